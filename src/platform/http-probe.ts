import { request } from 'node:http'

/** Address, port and the host that is asked for → the text of `path` there, at most `maxBytes` of it; null when nothing with
 *  status 200 comes within the time. In clear, by the address alone, no redirect followed. Never rejects. */
export function probeHttp(
  at: { ip: string; port: number; host: string; path: string },
  limits: { maxBytes: number; timeoutMs: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request({
      host: at.ip,
      port: at.port,
      path: at.path,
      headers: { host: at.port === 80 ? at.host : `${at.host}:${at.port}`, connection: 'close' },
      agent: false,
    })
    const end = (text: string | null) => {
      clearTimeout(timer)
      asked.destroy()
      resolve(text)
    }
    const timer = setTimeout(() => end(null), limits.timeoutMs)
    asked.on('error', () => end(null))
    asked.on('response', (answer) => {
      if (answer.statusCode !== 200) return end(null)
      let text = ''
      answer.setEncoding('latin1')
      answer.on('data', (piece: string) => {
        text += piece
        if (text.length >= limits.maxBytes) end(text.slice(0, limits.maxBytes))
      })
      answer.on('end', () => end(text))
      answer.on('error', () => end(null))
    })
    asked.end()
  })
}
