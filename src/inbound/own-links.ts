import { hash } from 'node:crypto'
import type { ForwardLinks } from '../mail/forward-link.ts'
import type { Store } from '../storage/store.ts'
import { secretLink } from './replies.ts'

/** What looks like a secret link of a Postrider in a mail. */
export interface OwnLinks {
  /** Tokens of invitations and password links. */
  tokens: string[]
  /** Paths of links that confirm a forward. Those that stop one are no secret, and people may quote them for ever. */
  forwards: string[]
}

/** Of each kind: more than any mail of ours has. Each is looked up. */
const MOST_LINKS = 50
/** The tokens of user-links.ts, whatever stands around them. */
const TOKEN = /(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g
const FORWARD = /\/forward\/c\/[\w-]+\.[\w-]{22}(?![\w-])/g

/** Raw mail and its decoded texts → what looks like a link of ours. Runs in a reader. The raw mail is searched as it is,
 *  for mails attached to it. */
export function ownLinksIn(raw: Uint8Array, texts: readonly string[]): OwnLinks {
  const undone = Buffer.from(raw).toString('latin1').replaceAll('=\r\n', '').replaceAll(/=3D/gi, '=')
  const [tokens, forwards] = [new Set<string>(), new Set<string>()]
  for (const text of [...texts, undone]) {
    // Mail filters write a link into the parameter of another one.
    const decoded = text.replaceAll(/%3D/gi, '=').replaceAll(/%2F/gi, '/')
    for (const [token] of decoded.matchAll(TOKEN)) if (tokens.size < MOST_LINKS) tokens.add(token)
    for (const [path] of decoded.matchAll(FORWARD)) if (forwards.size < MOST_LINKS) forwards.add(path)
  }
  return { tokens: [...tokens], forwards: [...forwards] }
}

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
