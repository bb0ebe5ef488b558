import { afterEach, expect, test } from 'bun:test'
import { createListener, type Listener } from '../../src/web/api/listener.ts'

const CLIENTS = 8
/** Of each client, one after the other. */
const REQUESTS = 20

/** Clients in a separate process. Each opens a new connection as soon as its request is answered. */
const FLOOD = `
const port = process.argv.at(-1)
const ask = () => fetch('http://127.0.0.1:' + port + '/', { keepalive: false }).then((r) => r.text())
const many = async () => { for (let n = 0; n < ${REQUESTS}; n++) await ask() }
await Promise.all(Array.from({ length: ${CLIENTS} }, many))
`

let open: Listener | null = null
let timer: Timer | undefined
let clients: Bun.Subprocess | undefined
afterEach(async () => {
  clearInterval(timer)
  clients?.kill('SIGKILL')
  await open?.cut()
  open = null
})

// threat: slow-clients-and-floods
test('clients that open many connections do not delay timers and commits', async () => {
  let answered = 0
  open = createListener({
    fetch: async () => {
      answered++
      // Long enough that the next connections are there before the response is sent.
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
  clients = Bun.spawn([process.execPath, '-e', FLOOD, String(port)])
  // How many requests a timer waits for, in place of how long: that depends on the machine.
  let [most, before] = [0, 0]
  const look = () => {
    most = Math.max(most, answered - before)
    before = answered
  }
  timer = setInterval(look, 1)
  expect(await clients.exited).toBe(0)
  look()
  expect(answered).toBe(CLIENTS * REQUESTS)
  expect(most).toBeLessThan(answered / 4)
})
