import type { X509Certificate } from 'node:crypto'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect } from 'node:tls'

/** `127.0.0.1:port` → the certificate that the server presents, there or at another `host`; with `starttls` by SMTP. */
export async function shownCertificate(
  address: string,
  options: { starttls?: boolean; host?: string } = {},
): Promise<X509Certificate> {
  const [, bound = '', port = ''] = /^(.*):(\d+)$/.exec(address) ?? []
  const { host = bound } = options
  const socket = options.starttls ? await afterStartTls(host, Number(port)) : undefined
  return new Promise((resolve, reject) => {
    const to = socket === undefined ? { host, port: Number(port) } : { socket }
    const client = connect({ ...to, rejectUnauthorized: false }, () => {
      resolve(client.getPeerX509Certificate()!)
      client.destroy()
    })
    client.on('error', reject)
  })
}

function afterStartTls(host: string, port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectPlain(port, host)
    const lines = ['EHLO client.example\r\n', 'STARTTLS\r\n']
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
      if (!/^\d{3} .*\r\n$/m.test(text)) return
      text = ''
      const line = lines.shift()
      if (line !== undefined) return void socket.write(line)
      socket.removeAllListeners('data')
      resolve(socket)
    })
  })
}
