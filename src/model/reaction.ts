import { type EventType, iso } from './event.ts'

/** Simulated action of a recipient of test mail; each becomes an event. */
export type Reaction = 'complained' | 'opened' | 'clicked' | 'unsubscribed' | 'replied'

/** Reaction, its time (ms UTC), the mail's HTML and its recipient → an event like a real one, with a browser and an address from
 *  the documentation range. A click uses the first http link, or https://example.com/ without one. */
export function reactionEvent(
  reaction: Reaction,
  at: number,
  html: string | null,
  email: string,
): { type: EventType; fields: Record<string, unknown> } {
  const time = iso(at)
  const browser = { user_agent: USER_AGENT, ip_address: IP_ADDRESS }
  switch (reaction) {
    case 'complained':
      return event('message.complained', { complained_at: time, feedback_type: 'abuse' })
    case 'opened':
      return event('message.opened', { opened_at: time, ...browser, machine: false })
    case 'clicked':
      return event('message.clicked', { clicked_at: time, url: firstLink(html), ...browser, machine: false })
    case 'unsubscribed':
      return event('message.unsubscribed', { unsubscribed_at: time, method: 'one_click', ...browser })
    case 'replied':
      return event('message.replied', { from: email, replied_at: time, inbound_message_id: null })
  }
}

function event(type: EventType, fields: Record<string, unknown>) {
  return { type, fields }
}

/** First http link of the HTML, or a placeholder if the mail has none. */
function firstLink(html: string | null): string {
  const href = /\bhref\s*=\s*["']?(https?:\/\/[^\s"'<>]+)/i.exec(html ?? '')?.[1]
  return href?.replaceAll('&amp;', '&') ?? 'https://example.com/'
}

const USER_AGENT = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36'
const IP_ADDRESS = '192.0.2.1' // RFC 5737: documentation
