/** What came back, for showing. */
export interface Shown {
  status: number
  /** Milliseconds until the whole response, or its part that was read. */
  tookMs: number
  headers: [name: string, value: string][]
  /** JSON with line breaks, or text; null for bytes. */
  text: string | null
  sizeBytes: number
  type: string
  /** The response has more: it was too long, or it was stopped. */
  isCut: boolean
  /** What an error response says, as sentences; [] for a success. */
  problems: string[]
}

const SHOWN_HEADERS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Idempotent-Replayed',
  'Preference-Applied',
]

/** Longer responses are cut: a browser takes long to show them. */
const MOST_BYTES = 500_000

/** Reads a response to its end, to MOST_BYTES, or until the request is aborted. `onPart` gets what there is of an event
 *  stream. Rejects if the connection breaks. */
export async function readResponse(
  response: Response,
  { elapsedMs, signal, onPart }: { elapsedMs: () => number; signal: AbortSignal; onPart: (shown: Shown) => void },
): Promise<Shown> {
  const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
  const isText = /^text\/|json$|^message\//.test(type)
  const decoder = new TextDecoder()
  let text = ''
  let sizeBytes = 0
  let isCut = false
  const shown = (): Shown => ({
    status: response.status,
    tookMs: Math.round(elapsedMs()),
    headers: SHOWN_HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
    text: isText ? formatted(text, type) : null,
    sizeBytes,
    type,
    isCut,
    problems: response.ok ? [] : problemsIn(text, response.status),
  })
  const reader = response.body?.getReader()
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done || value === undefined) break
      sizeBytes += value.length
      if (isText) text += decoder.decode(value, { stream: true })
      if (sizeBytes > MOST_BYTES) {
        isCut = true
        await reader?.cancel()
        break
      }
      if (type === 'text/event-stream') onPart(shown())
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown
    isCut = true
  }
  return shown()
}

function formatted(text: string, type: string): string {
  if (!type.endsWith('json')) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // cut
  }
}

/** The message of an error of the API, and those of its fields. */
function problemsIn(text: string, status: number): string[] {
  try {
    const { error } = JSON.parse(text)
    const fields: unknown[] = (error.errors ?? []).map(({ message }: { message: unknown }) => message)
    return [...new Set([error.message, ...fields].map(String))]
  } catch {
    return [`The server answered ${status} without an error message.`]
  }
}
