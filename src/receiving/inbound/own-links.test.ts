import { expect, test } from 'bun:test'
import { createForwardLinks } from '../../mail/forward-link.ts'
import { parseMail } from '../../mail/parse.ts'
import { ownLinksIn } from './own-links.ts'

const TOKEN = '0123456789abcdef0123456789abcdef01234567'
const LINK = `https://mail.example/dashboard/sign-in#reset=${TOKEN}`
const FORWARD = createForwardLinks(new Uint8Array(32)).confirm(
  { routeId: 'rte_1', organizationId: 'org_1', email: 'ann@desk.example' },
  1,
)

async function found(raw: string) {
  const bytes = Buffer.from(raw, 'latin1')
  const { parsed, mail } = await parseMail(bytes, new Promise<void>(() => {}))
  return ownLinksIn(bytes, [parsed.textBody, parsed.htmlBody], mail)
}

const part = (type: string, encoding: string, body: string) =>
  `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
const mixed = (...parts: string[]) =>
  `Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.map((each) => `--b\r\n${each}`).join('')}--b--\r\n`
const base64 = (text: string, charset: BufferEncoding = 'utf8') =>
  Buffer.from(text, charset).toString('base64').replaceAll(/.{76}/g, '$&\r\n')
/** With a soft line break in the token. */
const quoted = (text: string) => text.replaceAll('=', '=3D').replace(/.{20}$/, '= \r\n$&')
const attached = part('text/plain; name=a.txt', 'base64', base64(LINK))

test.each<[string, string]>([
  ['as it is', `\r\n${LINK}\r\n`],
  ['in base64', part('text/html', 'base64', base64(`<a href="${LINK}">here</a>`))],
  ['broken by quoted-printable', part('text/plain', 'quoted-printable', quoted(LINK))],
  ['broken by a mail program', `\r\n> ${LINK.slice(0, 70)}\r\n> ${LINK.slice(70)}\r\n`],
  ['in a text attachment', mixed('\r\nhi\r\n', `Content-Disposition: attachment\r\n${attached}`)],
  ['in an attached file of any type', mixed('\r\nhi\r\n', part('application/x-a; name=a.bin', 'base64', base64(LINK)))],
  ['in another charset', mixed('\r\nhi\r\n', part('text/csv; charset=utf-16le', 'base64', base64(LINK, 'utf16le')))],
  ['in an attached mail', mixed('\r\nhi\r\n', `Content-Type: message/rfc822\r\n\r\nSubject: a\r\n${attached}`)],
  [
    'in an attached mail that is encoded, too',
    mixed('\r\nhi\r\n', part('message/rfc822', 'base64', base64(`Subject: a\r\n${attached}`))),
  ],
  ['in the parameter of another link', `\r\nhttps://filter.example/?u=${encodeURIComponent(LINK)}\r\n`],
])('a token is found %s', async (_, raw) => {
  expect((await found(`Subject: a\r\n${raw}`)).tokens).toEqual([TOKEN])
})

test('a link that confirms a forward is found in an attached mail and as a parameter', async () => {
  const attached = mixed('\r\nhi\r\n', part('message/rfc822', 'base64', base64(`Subject: a\r\n\r\n${FORWARD}\r\n`)))
  expect((await found(attached)).forwards).toEqual([FORWARD])
  expect((await found(`\r\nhttps://filter.example/?u=${encodeURIComponent(FORWARD)}\r\n`)).forwards).toEqual([FORWARD])
})

test('a mail of many hexadecimal words costs fifty look-ups, and a token in a link is among them', async () => {
  const words = Array.from({ length: 10_000 }, (_, n) => n.toString(16).padStart(40, 'a'))
  const { tokens } = await found(`\r\n${words.join('\r\n')}\r\n${LINK}\r\n`)
  expect(tokens).toHaveLength(50)
  expect(tokens).toContain(TOKEN)
})

test('mails attached to each other end at a limit', async () => {
  let raw = `Subject: a\r\n${attached}`
  for (let depth = 0; depth < 40; depth++)
    raw = `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\nContent-Type: message/rfc822\r\n\r\n${raw}--b${depth}--\r\n`
  expect((await found(raw)).tokens).toEqual([])
})
