import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy whose connections a test can break. */
export interface Line {
  url: string
  /** Number of open connections. */
  open(): number
  /** Closes the open connections. */
  cut(): void
  /** The open connections stay open but deliver no more data to the client. */
  freeze(): void
  /** Closes a connection in place of its next response, `count` times. The server still handles the requests. */
  loseAnswers(count: number): void
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a proxy to the server at `host:port`. */
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
  const stop = (): Promise<void> => {
    cut()
    return new Promise((resolve) => server.close(() => resolve()))
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
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
