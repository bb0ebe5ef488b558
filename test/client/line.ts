import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy whose connections can be broken. */
export interface Line {
  url: string
  /** Open connections. */
  open(): number
  cut(): void
  /** Current connections stay open but carry nothing more. */
  freeze(): void
  /** The next responses are lost: the server handles the requests, and the connection breaks. */
  loseAnswers(count: number): void
  stop(): Promise<void>
}

/** `host:port` of a server → a proxy to it. */
export async function startLine(address: string): Promise<Line> {
  const pairs = new Set<[near: Socket, far: Socket]>()
  let toLose = 0
  const server = createServer((near) => {
    const far = connect(Number(address.split(':').at(-1)), '127.0.0.1')
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    near.pipe(far)
    far.on('data', (chunk) => {
      if (toLose === 0) return void near.write(chunk)
      toLose--
      near.destroy()
    })
    for (const [one, other] of [pair, [far, near]] as const) {
      one.on('error', () => {})
      one.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const [near] of pairs) near.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => pairs.size,
    cut,
    freeze: () => {
      for (const [, far] of pairs) far.pause()
    },
    loseAnswers: (count) => {
      toLose = count
    },
    stop: () => {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
