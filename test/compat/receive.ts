import { createTransport, type SendMailOptions } from 'nodemailer'
import { DOMAIN, type TestServer } from '../support/server.ts'

/** Configuration of a server that receives mail. */
export const RECEIVING = { smtp: { inbound: { listen: '127.0.0.1:0' } } }

const MAIL = {
  from: 'Bob <bob@author.example>',
  to: `Desk <desk@${DOMAIN}>`,
  cc: 'Cy <cy@author.example>, di@author.example',
  replyTo: 'bob@answers.example',
  subject: 'A question',
  text: 'Hello?',
  html: '<p>Hello?</p><img src="cid:logo">',
  attachments: [
    { filename: 'a.pdf', content: Buffer.from('%PDF') },
    { filename: 'logo.png', content: Buffer.from('png'), cid: 'logo' },
  ],
}

/** Sends this mail by SMTP to the test server, with a route that stores it; resolves with the ID of the received
 *  message. */
export async function receive(server: TestServer, change: SendMailOptions = {}): Promise<string> {
  const match = { type: 'address', value: `desk@${DOMAIN}` }
  await server.ask('POST', '/v1/inbound-routes', { name: 'desk', match, action: { type: 'store', config: {} } })
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  const envelope = { from: 'bob@author.example', to: `desk@${DOMAIN}` }
  await client.sendMail({ ...MAIL, envelope, ...change })
  client.close()
  return (await server.read('/v1/inbound-messages?limit=1')).data[0].id
}
