import { generateKeyPairSync } from 'node:crypto'
import { z } from 'zod'
import type { Certificate } from '../../../net/tls/certificate.ts'
import { certificateRequest } from '../../../net/tls/certificate-request.ts'
import { type AcmeClient, type AcmeDeps, type Answer, excerpt, openClient, read } from './client.ts'
import { OrderFailure } from './failure.ts'
import { createSigner, type Signer } from './jws.ts'
import { certificateId } from './renewal-info.ts'

/** Orders a certificate: an order for all names, an HTTP-01 proof for each, a request with a new key, and the resulting
 *  chain (RFC 8555 §7.4). Nothing is stored on the way: an interrupted order is dropped here and expires at the
 *  authority. The next order finds recently validated names already valid. */
export async function orderCertificate(
  names: readonly string[],
  deps: AcmeDeps & {
    directoryUrl: string
    contact: string | null
    accountKey: Parameters<typeof createSigner>[0]
    /** The certificate it replaces (PEM), for authorities that accept this. RFC 9773 §5 */
    replaces?: string | undefined
    /** Serves a key authorization under its token until the returned function is called. */
    show: (token: string, keyAuthorization: string) => Promise<() => void>
  },
): Promise<Certificate> {
  const signer = createSigner(deps.accountKey)
  const client = await openClient(deps.directoryUrl, signer, deps)
  await client.openAccount(deps.contact)

  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const replaced = client.directory.renewalInfo && deps.replaces ? certificateId(deps.replaces) : null
  const request = { identifiers, ...(replaced !== null && { replaces: replaced }) }
  const made = await client.post(client.directory.newOrder, request)
  const order = read(ORDER, made.text)
  const orderUrl = made.location
  if (orderUrl === null) throw new OrderFailure('the CA returned no order URL')
  // RFC 8555 §7.1.3: one for each name.
  if (order.authorizations.length > names.length) throw new OrderFailure('the CA asks to prove more than the names')

  const watch = <T extends { status: string }>(
    url: string,
    schema: z.ZodType<T>,
    isUnderWay: (status: string) => boolean,
  ) => untilSettled(url, schema, isUnderWay, { client, deps })
  await prove(order.authorizations, { client, signer, show: deps.show, watch })

  const proved = await watch(orderUrl, ORDER, (status) => status === 'pending')
  if (proved.status !== 'ready') throw failed(proved)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const csr = certificateRequest(names, { privateKey, publicKey }).toString('base64url')
  await client.post(order.finalize, { csr })
  const done = await watch(orderUrl, ORDER, (status) => status === 'ready' || status === 'processing')
  if (done.status !== 'valid' || done.certificate === undefined) throw failed(done)

  const { text } = await client.look(done.certificate, 'application/pem-certificate-chain')
  return { certificatePem: chainIn(text), keyPem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) }
}

const ERROR = z
  .object({ detail: z.string().catch('') })
  .optional()
  .catch(undefined)
const ORDER = z.object({
  status: z.string(),
  authorizations: z.array(z.string()).max(1000),
  finalize: z.string(),
  certificate: z.string().optional(),
  error: ERROR,
})
const CHALLENGE = z.object({ type: z.string(), url: z.string().catch(''), token: z.string().catch(''), error: ERROR })
/** Authorities offer three or four. More would be checked for a third of a second, on the main thread. */
const MOST_CHALLENGES = 50
const AUTHORIZATION = z.object({
  status: z.string(),
  identifier: z.object({ value: z.string() }),
  challenges: z.array(CHALLENGE).max(MOST_CHALLENGES),
})

type Watch = <T extends { status: string }>(
  url: string,
  schema: z.ZodType<T>,
  isUnderWay: (status: string) => boolean,
) => Promise<T>

/** Validates every name that is not valid yet. All tokens are served and announced first, since the authority takes
 *  time for each. Rejects with all refused names. */
async function prove(
  urls: readonly string[],
  by: { client: AcmeClient; signer: Signer; show: (token: string, text: string) => Promise<() => void>; watch: Watch },
): Promise<void> {
  const hide: (() => void)[] = []
  try {
    const asked: string[] = []
    for (const url of urls) {
      const authorization = read(AUTHORIZATION, (await by.client.look(url)).text)
      if (authorization.status === 'valid') continue
      const name = authorization.identifier.value
      const challenge = authorization.challenges.find(({ type }) => type === 'http-01')
      if (challenge === undefined || !TOKEN.test(challenge.token)) {
        throw new OrderFailure(`the CA does not offer HTTP-01 for ${excerpt(name)}`, { refusedNames: [name] })
      }
      hide.push(await by.show(challenge.token, by.signer.keyAuthorization(challenge.token)))
      await by.client.post(challenge.url, {})
      asked.push(url)
    }
    const refused: { name: string; detail: string }[] = []
    for (const url of asked) {
      const { status, identifier, challenges } = await by.watch(url, AUTHORIZATION, (each) => each === 'pending')
      if (status === 'valid') continue
      const detail = challenges.find(({ error }) => error !== undefined)?.error?.detail || status
      refused.push({ name: identifier.value, detail })
    }
    if (refused.length === 0) return
    throw new OrderFailure(excerpt(refused.map(({ name, detail }) => `${name}: ${detail}`).join('; ')), {
      refusedNames: refused.map(({ name }) => name),
    })
  } finally {
    for (const step of hide) step()
  }
}

/** Polls at the interval the authority asks for, until the resource is no longer pending. */
async function untilSettled<T extends { status: string }>(
  url: string,
  schema: z.ZodType<T>,
  isUnderWay: (status: string) => boolean,
  { client, deps }: { client: AcmeClient; deps: AcmeDeps },
): Promise<T> {
  for (;;) {
    const answer: Answer = await client.look(url)
    const found = read(schema, answer.text)
    if (!isUnderWay(found.status)) return found
    const waitMs = Math.min(Math.max(answer.retryAfterMs ?? POLL_MS, SHORTEST_POLL_MS), LONGEST_POLL_MS)
    if (deps.clock.now() + waitMs > client.endsAt)
      throw new OrderFailure(`timed out waiting for the CA, last status: ${excerpt(found.status)}`)
    await deps.clock.sleep(waitMs, deps.signal)
  }
}

/** The certificates in a text of the authority, without anything around them: it is stored beside the key and sent to
 *  every client. RFC 8555 §9.1 */
function chainIn(text: string): string {
  const found = text.match(CERTIFICATE) ?? []
  if (found.length > MOST_CERTIFICATES)
    throw new OrderFailure(`the CA sent a chain of ${found.length} certificates, more than ${MOST_CERTIFICATES}`)
  return found.map((each) => `${each}\n`).join('')
}

function failed({ status, error }: { status: string; error?: { detail: string } | undefined }): OrderFailure {
  return new OrderFailure(`the CA rejected the order: ${excerpt(error?.detail || status)}`)
}

/** RFC 8555 §8.3: base64url. It becomes part of a path. */
const TOKEN = /^[\w-]{16,512}$/
const POLL_MS = 3_000
const SHORTEST_POLL_MS = 1_000
const LONGEST_POLL_MS = 60_000
/** Chains have two to four. */
const MOST_CERTIFICATES = 10
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,20000}-----END CERTIFICATE-----/g
