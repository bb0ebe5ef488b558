import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { systemClock } from '../../src/os/clock.ts'

/** A request as it arrived over the wire. */
export interface ReceivedRequest {
  /** By performance.now(). */
  at: number
  method: string
  /** Path and query. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  /** The body's bytes, and the same as text. */
  bytes: Uint8Array
  body: string
}

/** A status alone, a whole response, or `hang`: accept the request and never answer. */
export type ScriptedAnswer = number | { status: number; headers?: Record<string, string>; body?: string } | 'hang'

/** A real HTTPS endpoint on loopback that follows a script and keeps every request. */
export interface Receiver {
  /** `https://127.0.0.1:port/hook` */
  url: string
  /** The certificate to trust, PEM. */
  ca: string
  /** Its private key, PEM: for other endpoints with the same certificate. */
  key: string
  requests: ReceivedRequest[]
  /** From now on: these responses in order, the last one repeated. */
  script(...answers: ScriptedAnswer[]): void
  /** Answers the hanging requests. */
  release(status: number): void
  /** Resolves once `count` requests have arrived, body included. */
  received(count: number): Promise<void>
  /** Closes every connection. */
  stop(): Promise<void>
}

/** Script (none = always 200) → a listening Receiver. */
export async function startReceiver(...answers: ScriptedAnswer[]): Promise<Receiver> {
  certificate ??= selfSignedCertificate({ names: ['127.0.0.1', 'localhost'], now: systemClock.now() })
  const { keyPem, certificatePem } = await certificate
  const requests: ReceivedRequest[] = []
  let script: ScriptedAnswer[] = []
  let hanging: ((response: Response) => void)[] = []
  let watchers: { count: number; resolve: () => void }[] = []

  const setScript = (...next: ScriptedAnswer[]) => {
    script = next.length > 0 ? next : [200]
  }
  const answerHanging = (status: number) => {
    for (const answer of hanging) answer(new Response(null, { status }))
    hanging = []
  }
  setScript(...answers)

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    tls: { key: keyPem, cert: certificatePem },
    fetch: async (request) => {
      requests.push(await kept(request))
      const answer = script.length > 1 ? script.shift()! : script[0]!
      for (const watcher of watchers) if (requests.length >= watcher.count) watcher.resolve()
      watchers = watchers.filter((watcher) => requests.length < watcher.count)
      if (answer === 'hang') return new Promise<Response>((resolve) => hanging.push(resolve))
      if (typeof answer === 'number') return new Response(null, { status: answer })
      return new Response(answer.body ?? null, answer)
    },
  })

  return {
    url: `https://127.0.0.1:${server.port}/hook`,
    ca: certificatePem,
    key: keyPem,
    requests,
    script: setScript,
    release: answerHanging,
    received: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((resolve) => watchers.push({ count, resolve })),
    stop: async () => {
      answerHanging(503)
      await server.stop(true)
    },
  }
}

/** One for all receivers of a test run, so that trusting one trusts all. */
let certificate: ReturnType<typeof selfSignedCertificate> | undefined

async function kept(request: Request): Promise<ReceivedRequest> {
  const { pathname, search } = new URL(request.url)
  const bytes = new Uint8Array(await request.arrayBuffer())
  return {
    at: performance.now(),
    method: request.method,
    path: pathname + search,
    headers: Object.fromEntries(request.headers),
    bytes,
    body: Buffer.from(bytes).toString('utf8'),
  }
}
