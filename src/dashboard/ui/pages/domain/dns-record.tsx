import type { Json } from '../../kit/api.ts'
import { CopyButton } from '../../kit/pieces.tsx'
import { Chip } from '../../kit/status.tsx'

/** A record to publish, with a copy button for each field. If DNS has a different value, it marks the difference. */
export function DnsRecordCard({ record }: { record: Json }) {
  const { purpose, type, name, value, priority, required, status, found } = record
  const label = PURPOSES[purpose] ?? purpose
  const isOther = status === 'mismatch' && found.length > 0
  return (
    <article class="card stack tight" aria-label={`${label}, ${name}`}>
      <div class="row apart">
        <h3>
          {label} <span class="muted mono">{type}</span>
        </h3>
        <div class="row">
          <span class="muted small">{required ? 'Required' : purpose === 'dmarc' ? 'Recommended' : 'Optional'}</span>
          <Chip word={status} tone={!required && status !== 'valid' ? 'quiet' : undefined} />
        </div>
      </div>
      <dl class="facts copied">
        <Copied term="Name" text={name} of={label} />
        {priority !== null && <Copied term="Priority" text={String(priority)} of={label} />}
        <Copied term="Value" text={value} of={label} />
        {isOther && (
          <>
            <dt>Found</dt>
            <dd>
              {found.map((text: string) => (
                <div key={text} class="mono break">
                  <Difference expected={value} text={text} />
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
      <Hint record={record} />
    </article>
  )
}

const PURPOSES: Record<string, string> = {
  dkim: 'DKIM key',
  ownership: 'Ownership',
  spf: 'SPF for the return path',
  dmarc: 'DMARC',
  return_path: 'Return path',
  mx: 'Inbound mail',
  tracking: 'Tracking domain',
  mta_sts: 'MTA-STS',
  mta_sts_host: 'MTA-STS host',
}

function Copied({ term, text, of }: { term: string; text: string; of: string }) {
  return (
    <>
      <dt>{term}</dt>
      <dd class="row apart">
        <span class="mono break grow">{text}</span>
        <CopyButton text={text} label={`${term.toLowerCase()} of ${of}`} />
      </dd>
    </>
  )
}

/** The value in DNS, with the part that differs marked. */
function Difference({ expected, text }: { expected: string; text: string }) {
  let start = 0
  while (start < Math.min(expected.length, text.length) && expected[start] === text[start]) start++
  let end = 0
  const most = Math.min(expected.length, text.length) - start
  while (end < most && expected.at(-1 - end) === text.at(-1 - end)) end++
  const middle = text.slice(start, text.length - end)
  return (
    <>
      {text.slice(0, start)}
      {middle === '' ? <span class="muted">(text missing)</span> : <mark>{middle}</mark>}
      {end > 0 && text.slice(-end)}
    </>
  )
}

function Hint({ record: { purpose, status, found } }: { record: Json }) {
  const text =
    purpose === 'ownership'
      ? 'Needed only if the domain receives but does not send mail. It proves ownership without DKIM keys.'
      : purpose === 'mx'
        ? 'Publish this only if no other server receives mail for this domain. All its mail will arrive here.'
        : purpose === 'dmarc' && found.length > 0 && status !== 'valid'
          ? 'A DMARC record already exists. Keep it: a domain has only one.'
          : purpose === 'spf' && found.length > 0 && status === 'mismatch'
            ? 'A name has only one SPF record. Change the existing record; do not add a second.'
            : null
  return text === null ? null : <p class="muted small">{text}</p>
}
