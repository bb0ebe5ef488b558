import { connect } from 'node:net'

/** Raw HTTP: pieces for a port of this machine, each written in a separate turn → everything that the server sends
 *  until the connection ends. */
export function talk(port: number, pieces: string[], { breakOff = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', async () => {
      for (const piece of pieces) await new Promise((written) => socket.write(piece, written))
      if (breakOff) socket.destroy()
    })
    socket.setNoDelay(true)
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
}
