import { type Config, formatEndpoint } from '../config/load.ts'
import { requireConfig } from './cli-context.ts'
import { CommandFailure, toFailure } from './failure.ts'
import { print } from './print.ts'
import { readServing } from './serving.ts'

/** Requests /readyz of the running server; throws if it is not ready or does not respond. */
export async function healthcheck(options: { config: string; timeout: number }): Promise<void> {
  const url = `${originOf(requireConfig(options.config))}/readyz`
  const answer = await ask(url, options.timeout * 1000)
  if (answer.status !== 200) throw new CommandFailure(`${url}: ${answer.status} ${await answer.text()}`)
  print('ready')
}

async function ask(url: string, timeoutMs: number): Promise<Response> {
  try {
    // Connects by IP address, which no certificate contains; the request holds no secret.
    const tls = { rejectUnauthorized: false }
    return await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual', tls })
  } catch (thrown) {
    const reason = toFailure(thrown)?.message ?? (thrown instanceof Error ? thrown.message : String(thrown))
    throw new CommandFailure(`${url}: no response (${reason})`)
  }
}

/** Where the server listens: the address it wrote when it started (port 0 resolved), else that of the config; plain HTTP
 *  if that is on. */
function originOf({ dataDir, http }: Config): string {
  const served = readServing(dataDir)?.listeners
  const clear = served?.http ?? (http.listen && formatEndpoint(http.listen))
  if (clear) return `http://${ownAddress(clear)}`
  const secure = served?.https ?? (http.listenTls && formatEndpoint(http.listenTls))
  if (secure) return `https://${ownAddress(secure)}`
  throw new CommandFailure('http.listen and http.listen_tls are "off". Turn one of them on to use the health check.')
}

/** Replaces the wildcard address by loopback. */
const ownAddress = (address: string) => address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')
