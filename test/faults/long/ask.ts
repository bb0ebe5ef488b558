import type { TestInstallation } from '../setup.ts'

/** The result of one client request. */
export interface Asked {
  /** 0: no response. */
  status: number
  /** Of the message, after a 202. */
  id: string | null
  code: string | null
  retryAfter: string | null
  ms: number
}

/** One message, sent once. */
export async function send(installation: TestInstallation, token: string, text = 'Hello'): Promise<Asked> {
  const body = { from: 'us@example.com', to: `${token}@example.org`, subject: `token ${token}`, text }
  return ask(() => installation.api('POST', '/v1/send', body, { 'Idempotency-Key': token }))
}

export const look = (installation: TestInstallation, path: string) => ask(() => installation.api('GET', path))

async function ask(request: () => Promise<Response>): Promise<Asked> {
  const beganAt = performance.now()
  try {
    const response = await request()
    const text = await response.text()
    const json = text.startsWith('{') ? JSON.parse(text) : {}
    return {
      status: response.status,
      id: json.id ?? null,
      code: json.error?.code ?? null,
      retryAfter: response.headers.get('retry-after'),
      ms: performance.now() - beganAt,
    }
  } catch {
    return { status: 0, id: null, code: null, retryAfter: null, ms: performance.now() - beganAt }
  }
}

/** A 503 as documented. */
export const isUnavailable = ({ status, code, retryAfter }: Asked) =>
  status === 503 && code === 'unavailable' && Number(retryAfter) > 0
