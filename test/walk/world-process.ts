/** Runs in the network of a walk: mail servers on port 25 of three hosts, HTTPS endpoints for webhooks and routes, and an
 *  OpenID provider with thin tokens. `world-process.ts CERTIFICATE KEY`. Prints `{"ready":true}`, then each mail and
 *  post as one line of JSON. */
import { readFileSync } from 'node:fs'
import { SMTPServer } from 'smtp-server'
import { startOidcProvider } from '../support/oidc-provider.ts'

const [certificateFile = '', keyFile = ''] = process.argv.slice(2)
const [certificatePem, keyPem] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')]
const tell = (line: object) => console.log(JSON.stringify(line))

const mx = new SMTPServer({
  name: 'mx.elsewhere.example',
  authOptional: true,
  disabledCommands: ['AUTH'],
  key: keyPem,
  cert: certificatePem,
  onRcptTo: ({ address }, _session, done) =>
    done(address.startsWith('nobody@') ? Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }) : null),
  onData: async (stream, session, done) => {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    const to = session.envelope.rcptTo.map(({ address }) => address)
    const raw = Buffer.concat(chunks).toString('latin1')
    tell({ mail: { to, from: session.remoteAddress, isTls: session.secure, raw } })
    done()
  },
})
mx.on('error', () => {}) // a connection that its client reset
await new Promise<void>((resolve) => mx.listen(25, '::', resolve))

/** shop.example.com passes its webhook to receive.mjs of the manual; hooks.example.com takes posts of a route. */
Bun.serve({
  hostname: '198.97.38.1',
  port: 443,
  tls: { key: keyPem, cert: certificatePem },
  fetch: async (request) => {
    const { hostname, pathname } = new URL(request.url)
    const body = await request.text()
    tell({ post: { url: `${hostname}${pathname}`, headers: Object.fromEntries(request.headers), body } })
    if (hostname === 'hooks.example.com') return new Response(null, { status: 204 })
    return fetch('http://127.0.0.1:3000/', { method: 'POST', headers: request.headers, body })
  },
})

const provider = await startOidcProvider(['https://mail.example.com/session/oidc/callback'], 'web', true, {
  issuer: 'https://login.example.com/realms/staff',
  address: '198.97.38.4',
  keyPem,
  certificatePem,
})
provider.current = { sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann', groups: ['platform'] }
tell({ ready: true, clientSecret: provider.clientSecret })
