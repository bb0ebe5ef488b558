/** A server in front of the API that notes what examples send. It ends event streams after their first part, so that a
 *  program which reads one ends too. */
export interface Recorder {
  origin: string
  /** What was exchanged since the last call. */
  take(): Exchange[]
  /** Resolves with the next exchange whose path begins like this. */
  next(path: string): Promise<Exchange>
  stop(): Promise<void>
}

export interface Exchange {
  method: string
  /** With the query. */
  path: string
  contentType: string | null
  body: string
  status: number
  /** Of the response, decoded. */
  answer: Uint8Array
}

/** Origin of the API → Recorder. */
export function startRecorder(api: string): Recorder {
  let exchanges: Exchange[] = []
  let arrived: (exchange: Exchange) => void = () => {}
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { method, url } = request
      const path = url.slice(new URL(url).origin.length)
      const body = await request.text()
      const headers = new Headers(request.headers)
      for (const name of ['host', 'content-length', 'accept-encoding', 'connection']) headers.delete(name)
      const response = await fetch(api + path, { method, headers, ...(body === '' ? {} : { body }) })
      const answer = await firstPart(response)
      const contentType = request.headers.get('content-type')
      const exchange = { method, path, contentType, body, status: response.status, answer }
      exchanges.push(exchange)
      arrived(exchange)
      return new Response(answer, { status: response.status, headers: { 'content-type': typeOf(response) } })
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    take() {
      const taken = exchanges
      exchanges = []
      return taken
    },
    next: (path) =>
      new Promise((resolve) => {
        arrived = (exchange) => exchange.path.startsWith(path) && resolve(exchange)
      }),
    stop: () => server.stop(true),
  }
}

const typeOf = ({ headers }: Response) => headers.get('content-type') ?? 'application/octet-stream'

/** The whole response, or the first part of an event stream. */
async function firstPart(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (!typeOf(response).startsWith('text/event-stream')) return response.bytes()
  for await (const part of response.body!) return new Uint8Array(part)
  return new Uint8Array()
}
