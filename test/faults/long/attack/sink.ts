import { createServer } from 'node:net'

/** A mail server that accepts everything and parses almost nothing, for the attacker's own mail. Its work must not
 *  count for the measuring process. */
export async function startAttackerSink(host: string, port: number): Promise<void> {
  const server = createServer({ noDelay: true }, (socket) => {
    let isMail = false
    let tail = ''
    socket.on('error', () => socket.destroy())
    socket.write('220 sink\r\n')
    socket.on('data', (chunk: Buffer) => {
      if (isMail) {
        tail = (tail + chunk.subarray(-5).toString('latin1')).slice(-5)
        if (tail !== '\r\n.\r\n') return
        isMail = false
        socket.write('250 2.0.0 taken\r\n')
        return
      }
      for (const line of chunk.toString('latin1').split('\r\n').slice(0, -1)) {
        if (/^data$/i.test(line)) {
          isMail = true
          tail = ''
          socket.write('354 go on\r\n')
        } else socket.write(/^ehlo/i.test(line) ? '250-sink\r\n250 PIPELINING\r\n' : '250 ok\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
}
