import { createTransport } from 'nodemailer'
import { asMail } from './fixtures.ts'
import type { ReceivedMail } from './remote-mx.ts'
import type { TestServer } from './server.ts'

/** Delivers a mail to the server like an external mail server → its reply, also when it is a refusal. */
export async function deliver(server: TestServer, to: string | string[], raw: Uint8Array, from = ''): Promise<string> {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const transport = createTransport({ host, port: Number(port), tls: { rejectUnauthorized: false } })
  try {
    const { response } = await transport.sendMail({ envelope: { from, to }, raw: Buffer.from(raw) })
    return response
  } catch (error) {
    return (error as { response?: string }).response ?? String(error)
  } finally {
    transport.close()
  }
}

/** A mail → the report of a feedback loop about it. */
export const complaintAbout = ({ mailFrom, raw }: Pick<ReceivedMail, 'mailFrom' | 'raw'>, from = 'staff@isp.example') =>
  asMail(`From: <${from}>
Subject: FW: Hello
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: text/plain

A reader does not want this.

--b
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Loop/1.0
Version: 1
Original-Mail-From: <${mailFrom}>

--b
Content-Type: message/rfc822

${raw.toString('latin1').replaceAll('\r\n', '\n')}
--b--
`)
