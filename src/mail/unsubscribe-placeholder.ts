/** The placeholder for the recipient's unsubscribe link is `%unsubscribe_url%`. People and their editors also write it in
 *  upper case, percent-encoded or with entities, behind a scheme or the address of a page that the editor added, and
 *  with a path or parameters behind it, which would make the link invalid. A query that begins with `?` stays. */
const PLACEHOLDER =
  /(?:https?:\/\/(?:[\w.-]+\/)*)?(?:%(?:25)?|&#37;|&#x25;)unsubscribe_url(?:%(?:25)?|&#37;|&#x25;)(?:(?:&(?:amp;)?\w+=|\/)[^\s"'<>]*)?/gi
/** What each has. It is found five times as fast in a text that is full of addresses. */
const CORE = /(?:%(?:25)?|&#37;|&#x25;)unsubscribe_url(?:%(?:25)?|&#37;|&#x25;)/gi

/** Text or HTML → the placeholder as it is first written; null if it has none. */
export function findUnsubscribe(text: string): string | null {
  return text.match(PLACEHOLDER)?.[0] ?? null
}

export function mentionsUnsubscribe(text: string): boolean {
  return text.search(CORE) >= 0
}

/** How often the placeholder stands in the text; at most `limit` + 1. */
export function countPlaceholders(text: string, limit: number): number {
  let count = 0
  for (const _ of text.matchAll(CORE)) if (++count > limit) break
  return count
}

/** Text or HTML → the same with `link` in every place of the placeholder. Linear. */
export function withUnsubscribeLink(text: string, link: string): string {
  return text.replace(PLACEHOLDER, () => link)
}
