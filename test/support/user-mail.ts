import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { cheapHash } from './password-hash.ts'
import { until } from './patience.ts'
import type { ReceivedMail } from './remote-mx.ts'
import { DOMAIN, type Json, type TestServer } from './server.ts'
import { VERIFIED } from './verified.ts'

/** Config with which the test server sends mail to users. */
export const MAIL_FROM = `no-reply@${DOMAIN}`

/** A mail → the same with its parts in quoted-printable decoded to UTF-8. */
export function decoded({ raw }: ReceivedMail): string {
  const parts = raw.toString('latin1').split('\r\n--')
  const plain = parts.map((part) =>
    /^Content-Transfer-Encoding: quoted-printable\r$/m.test(part)
      ? part.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      : part,
  )
  return Buffer.from(plain.join('\r\n--'), 'latin1').toString()
}

/** The token of the link in a mail; throws if text and HTML differ. */
export function tokenIn(mail: ReceivedMail, kind: 'reset' | 'invitation'): string {
  const found = [...decoded(mail).matchAll(new RegExp(`/dashboard/sign-in#${kind}=([0-9a-f]{40})\\b`, 'g'))]
  const tokens = new Set(found.map(([, token]) => token!))
  if (found.length !== 3 || tokens.size !== 1) throw new Error(`links: ${found.length} in ${decoded(mail)}`)
  return [...tokens][0]!
}

/** Adds a user with a password. */
export async function addUser(
  { store, clock }: Pick<TestServer, 'store' | 'clock'>,
  email: string,
  { isOperator = false, roles = {} }: { isOperator?: boolean; roles?: Record<string, Json> } = {},
): Promise<string> {
  passwordHash ??= await cheapHash(PASSWORD)
  const id = createMintId(clock, systemRandom)('usr')
  const user = { id, email, name: email.split('@', 1)[0]!, isOperator, roles, createdAt: clock.now() }
  await store().users.create({ ...user, disabledAt: null, lastSeenAt: null, ...VERIFIED }, passwordHash)
  return id
}
export const PASSWORD = 'correct horse battery'
let passwordHash: string | undefined

/** A request of the sign-in page, or of the dashboard with a cookie. */
export async function page(
  { running }: Pick<TestServer, 'running'>,
  method: string,
  path: string,
  { body, headers = {} }: { body?: Json; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Json; headers: Headers }> {
  const response = await fetch(`http://${running().listening.http}${path}`, {
    method,
    headers: { 'x-operator': '1', 'content-type': 'application/json', connection: 'close', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** The same for `POST /session/forgot`, which is answered after a fixed time. */
export async function forgot(server: TestServer, email: string) {
  const { clock } = server
  let isOver = false
  const answer = page(server, 'POST', '/session/forgot', { body: { email } }).finally(() => {
    isOver = true
  })
  await until('the response', async () => {
    if (!isOver && clock.sleeps().includes(clock.steady.now() + FORGOT_MS)) await clock.advance(FORGOT_MS)
    return isOver
  })
  return answer
}
const FORGOT_MS = 400

/** Signs in → the cookie. */
export async function cookieOf(server: TestServer, email: string, password = PASSWORD): Promise<string> {
  const { status, headers, body } = await page(server, 'POST', '/session', { body: { email, password } })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return headers.get('set-cookie')!.split(';', 1)[0]!
}
