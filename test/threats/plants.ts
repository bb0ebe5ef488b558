import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { SIGNING_KEY_FILE, signingKeyOf } from '../../src/cli/backup/signature.ts'
import { makeLoginLink } from '../../src/cli/login-link.ts'
import { decryptKey, keyPassphrase } from '../../src/domains/certificates/kept-keys.ts'
import { createCanaryWords } from '../../src/mail/canary-address.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { SecretKindId } from '../../src/web/api/secret-kinds.ts'
import { codeOfStep } from '../../src/web/api/sign-in/totp.ts'
import { signIn } from '../support/api.ts'
import { until } from '../support/patience.ts'
import type { RemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, type TestServer } from '../support/server.ts'
import { addUser, decoded, forgot, PASSWORD, page } from '../support/user-mail.ts'

/** Secrets by kind, as their owners got them. */
export type Plants = Record<SecretKindId, string[]>

export const CLIENT_SECRET = 'client-secret-of-the-provider-0123456789'
const ERASED = 'somebody.to.erase.0123456789@one.remote.example'
const ROUTED = `in@${DOMAIN}`

/** Makes one secret of each kind by the ways that make them. Other people of the same organization exist already. */
export async function plant(server: TestServer, remote: RemoteMx): Promise<Plants> {
  const accounts = await plantAccounts(server, remote)
  const keys = await plantKeys(server)
  const mail = await plantMail(server, remote)
  const held = await plantHeld(server)
  return { ...accounts, ...keys, ...mail, ...held }
}

/** A request of the operator, for the organization. */
async function operator(server: TestServer, method: string, path: string, body?: Json): Promise<Json> {
  const mintId = createMintId(server.clock, systemRandom)
  const session = await signIn(server.store(), server.clock.now(), systemRandom, mintId)
  const headers = { ...session, 'x-organization': server.organizationId }
  const answer = await page(server, method, path, { headers, ...(body !== undefined && { body }) })
  if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function plantKeys(server: TestServer) {
  const made = async (path: string, body: object = {}) => {
    const answer = await server.ask('POST', path, body, { 'idempotency-key': path })
    if (answer.status > 299) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  const { id: domain_id } = (await server.read('/v1/domains')).data[0]
  const key = await made('/v1/api-keys', { name: 'k', domain_id, permissions: ['send'] })
  const rotated = await made(`/v1/api-keys/${key.id}/rotate`)
  const changed = await made(`/v1/webhooks/${server.webhook.id}/rotate-secret`)
  const headers = {
    'X-Api-Key': 'key-of-the-gateway-of-events-0123456789',
    Authorization: 'Bearer bearer-of-events-0123456789',
  }
  const patched = await server.ask('PATCH', `/v1/webhooks/${server.webhook.id}`, { headers })
  if (patched.status !== 200) throw new Error(patched.text)
  const routed = { 'X-Api-Key': 'key-of-the-gateway-of-mail-0123456789' }
  const action = { type: 'webhook', config: { url: server.receiver.url, headers: routed } }
  const route = await made('/v1/inbound-routes', { name: 'in', match: { type: 'address', value: ROUTED }, action })
  return {
    api_key: [key.key, rotated.key, server.keys.live, server.keys.test],
    previous_webhook_secret: [server.webhook.secret],
    webhook_secret: [changed.secret],
    route_secret: [route.secret],
    webhook_headers: [headers['X-Api-Key'], 'bearer-of-events-0123456789'],
    route_headers: [routed['X-Api-Key']],
  }
}

async function plantAccounts(server: TestServer, remote: RemoteMx) {
  const roles = { [server.organizationId]: 'owner' }
  const addressOf = (name: string) => `${name}@secret.remote.example`
  const linkTo = async (name: string, kind: string) => {
    await until(`the mail to ${name}`, () => remote.mails.some(({ rcptTo }) => rcptTo[0] === addressOf(name)))
    const mail = remote.mails.findLast(({ rcptTo }) => rcptTo[0] === addressOf(name))!
    return new RegExp(`#${kind}=([0-9a-f]{40})`).exec(decoded(mail))![1]!
  }
  const [forgetful, reset] = [await addUser(server, addressOf('forgetful')), await addUser(server, addressOf('reset'))]
  const user = await addUser(server, addressOf('victim'), { roles })
  if (forgetful === user) throw new Error('users are different')
  await forgot(server, addressOf('forgetful'))
  const shown = await operator(server, 'POST', `/v1/users/${reset}/reset`, {})
  const invited = await operator(server, 'POST', '/v1/invitations', { email: addressOf('invited'), role: 'viewer' })

  const begin = () => page(server, 'POST', '/session', { body: { email: addressOf('victim'), password: PASSWORD } })
  const signedIn = await begin()
  const cookies = Object.fromEntries(signedIn.headers.getSetCookie().map((line) => line.split(';', 1)[0]!.split('=')))
  const { origin } = new URL(server.running().publicUrl)
  const headers = { cookie: `postrider_session=${cookies.postrider_session}`, origin }
  const step = async (path: string, body: object) => {
    const answer = await page(server, 'POST', `/session/${path}`, { headers, body })
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const totp = await step('two-step', { password: PASSWORD })
  const secret = (await server.store().factors.totp(user))!.secret
  const code = codeOfStep(secret, Math.floor(server.clock.now() / 30_000))
  const codes: string[] = (await step('two-step/enable', { code })).body.recovery_codes
  const pending = await begin()
  const challenge = await step('passkey/options', {})
  const link = await makeLoginLink(server.store(), 'http://localhost', FIRST_USER)
  return {
    password: [PASSWORD],
    session: [cookies.postrider_session],
    known_browser: [cookies.postrider_known],
    sign_in_link: [link.url.split('=')[1]!],
    mailed_password_link: [await linkTo('forgetful', 'reset'), await linkTo('reset', 'reset')],
    shown_password_link: [shown.url.split('=')[1]],
    mailed_invitation: [await linkTo('invited', 'invitation')],
    shown_invitation: [invited.url.split('=')[1]],
    sign_in_step: [pending.body.two_step.token, challenge.body.challenge],
    totp: [totp.body.secret],
    recovery_code: codes,
    ...(await plantSignOn(server)),
  }
}

async function plantSignOn(server: TestServer) {
  const { origin } = new URL(server.running().publicUrl)
  const response = await fetch(`http://${server.running().listening.http}/session/oidc`, {
    redirect: 'manual',
    headers: { host: new URL(origin).host },
  })
  const state = new URL(response.headers.get('location')!).searchParams.get('state')!
  const cookie = /postrider_sign_on=([0-9A-Za-z]{43})/.exec(response.headers.get('set-cookie')!)![1]!
  const derive = (name: string) => createHmac('sha256', cookie).update(`${name} ${state}`).digest('base64url')
  return { sign_on_state: [state], sign_on_cookie: [cookie, derive('nonce'), derive('verifier')] }
}

async function plantMail(server: TestServer, remote: RemoteMx) {
  const config = { to: ['target@desk.remote.example'] }
  const match = { type: 'address', value: `desk@${DOMAIN}` }
  await server.ask('POST', '/v1/inbound-routes', { name: 'desk', match, action: { type: 'forward', config } })
  const sent = await server.send({ unsubscribe: true, track_opens: true, to: 'linked@one.remote.example' })
  await server.ended(sent.body.id)
  const mailTo = async (address: string) => {
    await until(`the mail to ${address}`, () => remote.mails.some(({ rcptTo }) => rcptTo[0] === address))
    return remote.mails.find(({ rcptTo }) => rcptTo[0] === address)!
  }
  const asking = decoded(await mailTo('target@desk.remote.example'))
  const linked = await mailTo('linked@one.remote.example')
  const tagOf = (pattern: RegExp, text: string) => pattern.exec(text)![1]!
  await mailIn(server)
  const inbound = await server.read('/v1/inbound-messages')
  const received = await server.ask('GET', `/compat/resend/emails/receiving/${inbound.data[0].id}`)
  const run = await operator(server, 'POST', '/v1/canary/run', {})
  const words = createCanaryWords(await server.store().secret('canary', systemRandom.bytes(32)))
  return {
    forward_confirmation: [tagOf(/\/forward\/c\/[\w-]+\.([\w-]{22})/, asking)],
    forward_stop: [tagOf(/\/forward\/s\/[\w-]+\.([\w-]{22})/, asking)],
    recipient_link: ['u', 'o'].map((kind) => tagOf(new RegExp(`/t/${kind}/[\\w-]{26}([\\w-]{22})`), decoded(linked))),
    return_path: [linked.mailFrom.split('@', 1)[0]!],
    download_link: [tagOf(/\/downloads\/[\w.]+\.([\w-]{22})/, received.text)],
    canary_word: run.data.map(({ id }: Json) => words.encode(id)),
  }
}

/** A mail from outside to the route. */
async function mailIn(server: TestServer): Promise<void> {
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), ignoreTLS: true })
  const attachments = [{ filename: 'a.txt', content: 'a file' }]
  await client.sendMail({ from: 'bob@author.example', to: ROUTED, subject: 'A question', text: 'Hello?', attachments })
  client.close()
}

/** What the server holds and shows to nobody. */
async function plantHeld(server: TestServer) {
  const store = server.store()
  signingKeyOf(server.dataDir)
  const erased = await server.ask('POST', '/v1/recipients/erase', { email: ERASED })
  if (erased.status !== 202) throw new Error(erased.text)
  const { id } = (await server.read('/v1/domains')).data[0]
  const lineOf = (pem: string) => pem.split('\n')[1]!
  const secrets = ['verp', 'reply', 'tracking', 'forward', 'download', 'user-links', 'known-clients', 'canary', 'loop']
  const bytes = await Promise.all(secrets.map((name) => store.secret(name, systemRandom.bytes(32))))
  const passphrase = await keyPassphrase(store.secret, systemRandom)
  const key = readFileSync(join(server.dataDir, 'smtp-key.pem'), 'utf8')
  return {
    dkim_key: (await store.domains.get(id))!.dkim.map(({ privateKeyPem }) => lineOf(privateKeyPem)),
    installation_secret: [passphrase, ...bytes.map((each) => Buffer.from(each).toString('hex'))],
    certificate_key: [lineOf(decryptKey(key, passphrase))],
    erased_address: [ERASED],
    encryption_key: [readFileSync(join(server.dataDir, 'seal.key'), 'latin1').trim()],
    backup_key: [lineOf(readFileSync(join(server.dataDir, SIGNING_KEY_FILE), 'latin1'))],
    configured: [CLIENT_SECRET],
  }
}
