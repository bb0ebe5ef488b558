import { hash } from 'node:crypto'
import type { ForwardLinks } from '../../mail/forward-link.ts'
import { contentOf, leavesOf, type MimePart, readParts, textOf } from '../../mail/mime-parts.ts'
import type { Store } from '../../storage/store.ts'
import { secretLink } from './replies.ts'

/** What looks like a secret link of a Postrider in a mail. */
export interface OwnLinks {
  /** Tokens of invitations and password links. */
  tokens: string[]
  /** Paths of links that confirm a forward. Links that stop a forward are not secret, so people may quote them. */
  forwards: string[]
}

/** Of each kind: more than any mail of ours has. Each is looked up. */
const MOST_LINKS = 50
/** The tokens of user-links.ts, in our links and elsewhere. Mail filters write a link into the parameter of another one. */
const LINKED = /(?:invitation|reset)(?:=(?:3D)?|%3[Dd])([0-9a-f]{40})(?![0-9a-f])/g
const TOKEN = /(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g
const FORWARD = /\/forward\/c\/[\w-]+\.[\w-]{22}(?![\w-])/g
const FORWARD_WITHIN = '%2Fforward%2Fc%2F'
const LONGEST_FORWARD = 2_100

/** Finds what looks like a link of ours in a raw mail, its decoded texts and its parts (null: unknown). Runs in a reader.
 *  Every part is searched, also those of attached mails, without its transfer encoding, and the raw mail as it is.
 *  Hexadecimal words elsewhere than in a link count only while MOST_LINKS allows. */
export function ownLinksIn(raw: Uint8Array, texts: readonly string[], mail: MimePart | null): OwnLinks {
  const [linked, bare, forwards] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const add = (found: Set<string>, pattern: RegExp, text: string) => {
    for (const [all, token = all] of text.matchAll(pattern)) {
      if (found.size >= MOST_LINKS) return
      found.add(token)
    }
  }
  for (const text of searchedTexts(raw, texts, mail)) {
    add(linked, LINKED, text)
    add(bare, TOKEN, text)
    add(forwards, FORWARD, text)
    for (const within of text.split(FORWARD_WITHIN, MOST_LINKS).slice(1))
      add(forwards, FORWARD, `/forward/c/${within.slice(0, LONGEST_FORWARD)}`)
  }
  return {
    tokens: [...new Set([...linked, ...bare])].slice(0, MOST_LINKS),
    forwards: [...forwards],
  }
}

function* searchedTexts(raw: Uint8Array, texts: readonly string[], mail: MimePart | null): Generator<string> {
  for (const text of texts) {
    yield text
    // Some programs break long links.
    yield text.replaceAll(/\n[> ]*/g, '')
  }
  yield latin1(raw).replaceAll('=\r\n', '')
  if (mail !== null) yield* decodedTexts(mail, { levels: MOST_LEVELS, bytesLeft: MOST_TIMES * raw.byteLength })
}

/** The texts that the raw mail has in a transfer encoding only. */
function* decodedTexts(mail: MimePart, budget: { levels: number; bytesLeft: number }): Generator<string> {
  for (const part of leavesOf(mail)) {
    const isMail = part.type === 'message/rfc822' || part.type === 'message/global'
    budget.bytesLeft -= part.body.byteLength
    if (budget.bytesLeft < 0) return
    const content = contentOf(part)
    if (content !== part.body) yield part.type.startsWith('text/') ? textOf(part) : latin1(content)
    if (!isMail || budget.levels === 0) continue
    budget.levels--
    yield* decodedTexts(readParts(content, content.byteLength), budget)
  }
}

/** Mails in attached mails, of all depths together. */
const MOST_LEVELS = 10
/** Attached mails are read as often as they are nested, within a multiple of the mail's size. */
const MOST_TIMES = 3

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Refuses (550 5.7.1) a mail with a link of this server that still works: it signs somebody in, or confirms a forward.
 *  Members, keys, routes and webhooks of an organization would read it, however it came back here. */
export async function requireNoOwnLink(
  { tokens, forwards }: OwnLinks,
  { store, links }: { store: Pick<Store, 'users' | 'invitations'>; links: Pick<ForwardLinks, 'read'> },
  now: number,
): Promise<void> {
  if (forwards.some((path) => links.read(path, now) !== null)) throw secretLink()
  for (const token of tokens) {
    const tokenHash = hash('sha256', token, 'buffer')
    const isOurs = (await store.users.reset(tokenHash, now)) ?? (await store.invitations.find(tokenHash, now))
    if (isOurs !== null) throw secretLink()
  }
}
