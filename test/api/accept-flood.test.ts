import { afterEach, expect, test } from 'bun:test'
import { createListener, type Listener } from '../../src/api/listener.ts'

/** Clients in a separate process. Each opens a new connection as soon as its request is answered. */
const FLOOD = `
const [port, endsAt] = process.argv.slice(1).map(Number)
const once = async () => { while (Date.now() < endsAt) await fetch('http://127.0.0.1:' + port + '/', { keepalive: false }).then((r) => r.text()) }
await Promise.all(Array.from({ length: 8 }, once))
`
const SECONDS = 2

let open: Listener | null = null
afterEach(async () => {
  await open?.cut()
  open = null
})

// threat: slow-clients-and-floods
test('clients that open many connections do not delay timers and commits', async () => {
  let answered = 0
  open = createListener({
    fetch: async () => {
      answered++
      const until = performance.now() + 6
      while (performance.now() < until);
      return new Response('x')
    },
    maxBodyBytes: 1000,
    idleSeconds: 10,
    watch: () => () => {},
    onShut: () => {},
  })
  const { port } = open.open({ host: '127.0.0.1', port: 0 })
  const clients = Bun.spawn([process.execPath, '-e', FLOOD, String(port), String(Date.now() + SECONDS * 1000 + 500)])
  let [longest, last] = [0, performance.now()]
  const turns = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 10)
  await clients.exited
  clearInterval(turns)
  expect(answered).toBeGreaterThan(50)
  expect(Math.max(longest, performance.now() - last)).toBeLessThan(1_000)
})
