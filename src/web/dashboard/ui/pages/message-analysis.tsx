import { type Json, post } from '../kit/api.ts'
import { bytes, number } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Facts, Pending } from '../kit/pieces.tsx'
import { Chip, type Tone } from '../kit/status.tsx'
import { ContentGone, contentOf } from './message-content.tsx'

/** Analysis of a stored message: problems that mail clients or spam filters may report. The server checks them
 *  without network access. */
export function Analysis({ message }: { message: Json }) {
  const { data, error, reload } = useLoad((signal) => analyze(message, signal), [message.id])
  if (error?.status === 404) return <ContentGone error={error} />
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  return <Findings analysis={data} />
}

/** Shows a response of `/v1/messages/analyze`. */
export function Findings({ analysis }: { analysis: Json }) {
  const { score, verdict, issues, stats, links } = analysis
  return (
    <div class="stack">
      <section class="card stack" aria-labelledby="findings">
        <div class="row apart">
          <h2 id="findings">Score: {score} of 100</h2>
          <Chip word={verdict} tone={VERDICTS[verdict]} />
        </div>
        {issues.length === 0 && <p class="muted">No issues found.</p>}
        <ul class="findings">
          {issues.map(({ code, severity, message, field, penalty }: Json) => (
            <li key={`${code} ${message}`}>
              <Chip word={severity} tone={SEVERITIES[severity]} />
              <span class="break">
                {message}
                <br />
                <span class="muted small">
                  <code>{code}</code> in {field}
                  {penalty > 0 && `, −${penalty}`}
                </span>
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section class="card stack" aria-labelledby="statistics">
        <h2 id="statistics">Statistics</h2>
        <Facts
          of={[
            ['Total size', bytes(stats.size_bytes)],
            ['HTML', bytes(stats.html_bytes)],
            ['Text', bytes(stats.text_bytes)],
            ['Words', number(stats.words)],
            ['Images', `${stats.images} (${stats.remote_images} remote)`],
            ['Attachments', number(stats.attachments)],
            ['Links', links.length === 0 ? 'none' : links.map(({ url }: Json) => url).join(', ')],
          ]}
        />
      </section>
    </div>
  )
}

const VERDICTS: Record<string, Tone> = { good: 'good', warning: 'warn', bad: 'bad' }
const SEVERITIES: Record<string, Tone> = { info: 'quiet', warning: 'warn', error: 'bad' }

async function analyze(message: Json, signal: AbortSignal): Promise<Json> {
  const { html, text, headers, ...content } = await contentOf(message.id, signal)
  const { from, subject, domain_id } = message
  const names = Object.keys(headers)
  const kept = names.filter((name) => /^(?:x-|list-)/i.test(name) && !IS_UNSUBSCRIBE.test(name))
  const own = { headers: Object.fromEntries(kept.map((name) => [name, headers[name]])) }
  // An author's own field cannot be submitted as a header.
  const unsubscribe = content.unsubscribe || names.some((name) => IS_UNSUBSCRIBE.test(name))
  const body = {
    from,
    subject,
    unsubscribe,
    ...own,
    ...(html === null ? {} : { html }),
    ...(text === null ? {} : { text }),
  }
  return post('/v1/messages/analyze', body, { domain: domain_id, signal })
}

const IS_UNSUBSCRIBE = /^list-unsubscribe/i
