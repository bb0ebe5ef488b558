/** An example body with the sender of each message at `domain`, so that the key may send it; unchanged for null. Only
 *  `from` of the message and of those in `messages` names a sender. */
export function withSender(body: unknown, domain: string | null): unknown {
  if (domain === null || typeof body !== 'object' || body === null) return body
  const { from, messages } = body as { from?: unknown; messages?: unknown }
  return {
    ...body,
    ...(typeof from === 'string' && { from: atDomain(from, domain) }),
    ...(Array.isArray(messages) && { messages: messages.map((each) => withSender(each, domain)) }),
  }
}

/** `Shop <shop@example.com>` → `Shop <shop@northwind.example>`. Text without an address stays. */
function atDomain(from: string, domain: string): string {
  const at = from.lastIndexOf('@')
  if (at < 0) return from
  return `${from.slice(0, at + 1)}${domain}${from.endsWith('>') ? '>' : ''}`
}
