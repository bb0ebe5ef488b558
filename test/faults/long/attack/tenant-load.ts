/** A tenant with valid keys who sends the worst input that the API accepts, started by attacker.ts. Parameters as
 *  JSON: see Parameters. */
import { createServer, type TLSSocket } from 'node:tls'
import { attackUntilTold, forever } from './attacker.ts'
import { startAttackerSink } from './sink.ts'

export interface Parameters {
  /** Of the API. */
  origin: string
  live: string
  sandbox: string
  domain: string
  /** The destination of mail for its own recipients. */
  sink: { host: string; port: number }
  /** Certificate and key of endpoints on 127.0.0.1 that the server trusts, PEM. */
  certificate: string
  key: string
}

const { origin, live, sandbox, domain, sink, certificate, key } = JSON.parse(process.argv[2]!) as Parameters
/** A different destination from the healthy mail: all senders to one destination share its connections in order. */
const DESTINATION = 'hostile.fresh'
const counts: Record<string, number> = { answered: 0, refused: 0, unanswered: 0, posts: 0 }

async function ask(
  method: string,
  path: string,
  body?: unknown,
  apiKey = live,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    counts[response.status < 300 ? 'answered' : 'refused']!++
    return { status: response.status, text }
  } catch {
    counts.unanswered!++
    return { status: 0, text: '' }
  }
}

const idIn = ({ text }: { text: string }) => /"id":"([^"]+)"/.exec(text)?.[1] ?? 'none'
const mail = (change: object) => ({
  from: `a@${domain}`,
  to: `someone@${DESTINATION}`,
  subject: 'x',
  text: 'x',
  ...change,
})

/** Endpoints that hang, drip, and answer without end. */
const MANNERS: ((socket: TLSSocket) => void)[] = [
  () => {},
  (socket) => endless(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
  (socket) => endless(socket, `HTTP/1.1 103 Early Hints\r\nLink: <${'x'.repeat(500)}>\r\n\r\n`),
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    endless(socket, 'X-A: b\r\n')
  },
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    endless(socket, '1\r\nx\r\n')
  },
  (socket) => {
    const timer = setInterval(() => socket.write('H'), 500)
    socket.on('close', () => clearInterval(timer))
  },
]

function endless(socket: TLSSocket, piece: string): void {
  const block = Buffer.from(piece.repeat(Math.ceil(16_384 / piece.length)))
  const write = () => {
    while (!socket.destroyed && socket.write(block)) {}
  }
  socket.on('drain', write)
  write()
}

const urls = await Promise.all(
  MANNERS.map(async (manner) => {
    const server = createServer({ cert: certificate, key }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        counts.posts!++
        manner(socket)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `https://127.0.0.1:${(server.address() as { port: number }).port}/`
  }),
)

await startAttackerSink(sink.host, sink.port)
attackUntilTold(counts)

const EVENTS = ['message.delivered', 'message.bounced', 'message.deferred', 'message.opened', 'message.clicked']
for (let n = 0; n < 60; n++) void ask('POST', '/v1/webhooks', { url: urls[n % urls.length], events: EVENTS })

const recipients = (count: number) => Array.from({ length: count }, (_, n) => `r${n}@${DESTINATION}`)
const blanks = ' '.repeat(200_000)
const template = '{% for a in list %}{% for b in list %}{{ a | replace: "a", "aaaaaaaa" }}{% endfor %}{% endfor %}'
const list = Array.from({ length: 3_000 }, (_, n) => `a${n}`)
const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`
const styles = Array.from({ length: 1_000 }, (_, n) => `.a${n}{margin:${'0'.repeat(1_990)}x}`).join('')

// Each of these repeatedly, two at a time.
forever(2, (n) =>
  ask('POST', '/v1/send', mail({ to: recipients(50), html: `<a href="${blanks}x">${n}</a>`, track_clicks: true })),
)
forever(1, () =>
  ask('POST', '/v1/send', mail({ html: `${'<a href="https://x.example/">x</a>'.repeat(20_000)}`, track_clicks: true })),
)
forever(2, () => ask('POST', '/v1/messages/analyze', mail({ html: `<style>${styles}</style>` })))
forever(1, () => ask('POST', '/v1/messages/analyze', mail({ html: '<div style="'.repeat(20_000) })))
forever(1, async () => {
  const attachment = { filename: 'x', content: 'eA==', content_id: '<'.repeat(900), content_type: 'text/plain' }
  const sent = await ask('POST', '/v1/send', mail({ html: '<'.repeat(100_000), attachments: [attachment] }), sandbox)
  for (const part of ['', '?part=html', '?part=text', '?part=raw']) {
    await ask('GET', `/v1/messages/${idIn(sent)}/content${part}`, undefined, sandbox)
  }
})
forever(1, async (n) => {
  const id = idIn(await ask('POST', '/v1/templates', { name: `t${n}`, subject: 'x', html: template }))
  await ask('POST', `/v1/templates/${id}/render`, { variables: { list } })
  const one = { from: `a@${domain}`, to: `x@${DESTINATION}`, template_id: id, variables: { list: list.slice(0, 100) } }
  await ask('POST', '/v1/messages/batch', { messages: Array.from({ length: 500 }, () => one) })
})
forever(1, () => ask('POST', '/v1/send', mail({ attachments: [{ filename: 'x', content: 'A'.repeat(20_000_000) }] })))
forever(1, () =>
  ask(
    'POST',
    '/v1/messages/batch',
    { messages: Array.from({ length: 500 }, () => mail({ to: recipients(50) })) },
    sandbox,
  ),
)
forever(2, () => ask('POST', '/v1/send', deep))
forever(1, () =>
  ask('POST', '/v1/send', mail({ to: `${'"'.repeat(100_000)}@x.example`, headers: { 'X-A': 'b '.repeat(50_000) } })),
)
forever(2, (n) => ask('GET', `/v1/messages?q=${n % 2 === 0 ? 'a b c d e f g h' : 'x*'}&limit=100`))
forever(1, () => ask('GET', '/v1/stats?interval=hour&from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z'))
forever(1, (n) => ask('GET', `/v1/explain?to=someone@n${n % 100}.nowhere.example`))
forever(1, async (n) => {
  const value = n % 2 === 0 ? `*${'a*'.repeat(60)}@${domain}` : `a${n}@${domain}`
  await ask('POST', '/v1/inbound-routes', {
    name: `r${n}`,
    match: { type: 'pattern', value },
    action: { type: 'store' },
  })
})
forever(1, (n) => ask('POST', '/v1/suppressions', { email: `s${n}@example.net`, reason: 'manual' }))
forever(30, async () => {
  const response = await fetch(`${origin}/v1/events/stream`, {
    headers: { authorization: `Bearer ${live}` },
    signal: AbortSignal.timeout(20_000),
  })
  await response.body?.getReader().read()
  await Bun.sleep(5_000)
})
forever(20, () =>
  fetch(`${origin}/v1/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${live}`, 'content-type': 'application/json', prefer: 'wait=30' },
    body: JSON.stringify(mail({ to: 'x@nowhere.example' })),
    signal: AbortSignal.timeout(20_000),
  }).then((response) => response.text()),
)
