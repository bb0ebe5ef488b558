import { openConnection } from './connection.ts'
import { requestHead } from './request-bytes.ts'

/** A plaintext HTTP request to one address. */
export interface ProbeJob {
  ip: string
  port: number
  host: string
  path: string
  maxBytes: number
  timeoutMs: number
}

/** Returns the text of the page, at most `maxBytes` of it; null unless status 200 arrives in time. */
export type Probe = (job: ProbeJob) => Promise<string | null>

/** Probes from this thread. The owner of a host name decides where it points, so the usual response limits apply
 *  (limits.ts). Redirects are not followed. Never rejects, unless `host` or `path` are invalid in a request. */
export const probeHttp: Probe = async ({ ip, port, host, path, maxBytes, timeoutMs }) => {
  const end = AbortSignal.timeout(timeoutMs)
  const hostHeader = port === 80 ? host : `${host}:${port}`
  const parts = { method: 'GET', path, hostHeader, headers: {}, userAgent: 'Postrider', body: null } as const
  const head = requestHead({ ...parts, keepsAlive: false })
  const opened = await openConnection({ ip, port, host, trust: null }, timeoutMs, end)
  if (opened.kind !== 'open') return null
  const { connection } = opened
  const exchanged = await connection.exchange({ head, body: null, keepBytes: maxBytes, signal: end })
  connection.close()
  if (exchanged.kind !== 'answered' || exchanged.answer.status !== 200) return null
  return exchanged.answer.body.toString('latin1')
}
