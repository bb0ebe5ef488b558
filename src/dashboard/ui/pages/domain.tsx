import { useState } from 'preact/hooks'
import { zoneFile } from '../../../domains/zone-file.ts'
import { get, type Json, patch, post, remove, save } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { Check, Field, Form } from '../kit/form.tsx'
import { ago, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Fault, Head } from '../kit/pieces.tsx'
import { go } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt, toast, toastError } from '../kit/toast.tsx'
import { DnsRecordCard } from './domain/dns-record.tsx'

/** One domain: what to publish for it, what DNS says, its keys, and how its mail is tracked. */
export default function DomainPage({ domain_id: id }: { domain_id: string }) {
  const { data, error, reload } = useLoad((signal) => get(`/v1/domains/${id}`, {}, signal), [id])
  const [changed, setChanged] = useState<Json>()
  const [isChecking, setChecking] = useState(false)
  const domain: Json = changed ?? data
  if (domain === undefined) return error ? <Fault error={error} onRetry={reload} /> : <Head name="Domain" />

  const check = async () => {
    setChecking(true)
    try {
      const now = await post(`/v1/domains/${id}/verify`)
      setChanged(now)
      toast(now.status === 'verified' ? `${now.name} is verified` : 'DNS was asked: not all of it is there yet')
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setChecking(false)
    }
  }
  const rotate = async () => {
    const isSure = await confirm({
      name: 'Make new DKIM keys?',
      text: 'Two new records are to be published. The present keys sign until the new ones are seen in DNS, so no mail goes unsigned.',
      action: 'Make new keys',
    })
    if (isSure) await attempt(async () => setChanged(await post(`/v1/domains/${id}/rotate-dkim`)), 'New keys made')
  }
  const drop = async () => {
    const isSure = await confirm({
      name: `Delete ${domain.name}?`,
      text: 'Its API keys end at once, and its DKIM keys are gone: mail can come from it only after it is added and published anew.',
      action: 'Delete domain',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/domains/${id}`), `${domain.name} deleted`))) go('/domains')
  }
  const records: Json[] = domain.dns_records
  return (
    <div class="stack">
      <Head name={domain.name} about={checkedWords(domain)}>
        <Chip word={domain.status} />
        <button type="button" class="primary" onClick={check} disabled={isChecking}>
          {isChecking ? 'Asking DNS…' : 'Check now'}
        </button>
      </Head>
      <Ownership domain={domain} />
      <NextStep domain={domain} />
      <section class="stack" aria-label="DNS records">
        <div class="row apart">
          <h2>DNS records</h2>
          <div class="row">
            <button
              type="button"
              class="tiny"
              onClick={() => save(`${domain.name}.zone`, 'text/plain', zoneFile(domain.name, records, []))}
            >
              Zone file
            </button>
            <button
              type="button"
              class="tiny"
              onClick={() => save(`${domain.name}.json`, 'application/json', JSON.stringify(records, null, 2))}
            >
              JSON
            </button>
          </div>
        </div>
        {records.map((record) => (
          <DnsRecordCard key={`${record.type} ${record.name} ${record.value}`} record={record} />
        ))}
      </section>
      <section class="card stack">
        <div class="row apart">
          <h2>DKIM keys</h2>
          <button type="button" class="tiny" onClick={rotate}>
            Make new keys
          </button>
        </div>
        <ul class="plain-list stack tight">
          {domain.dkim.map(({ selector, algorithm, state, created_at }: Json) => (
            <li key={selector} class="row">
              <Chip word={state} />
              <span class="mono break">{selector}</span>
              <span class="muted">
                {algorithm}, made {when(created_at)}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <TrackingCard domain={domain} onChange={setChanged} />
      <div class="row">
        <button type="button" class="danger" onClick={drop}>
          Delete domain
        </button>
      </div>
    </div>
  )
}

function checkedWords({ last_checked_at, verified_at }: Json): string {
  if (last_checked_at === null) return 'DNS was not asked yet.'
  return `DNS asked ${ago(last_checked_at)}${verified_at === null ? '' : `, verified ${when(verified_at)}`}.`
}

/** What the state means: missing proof, a name that another organization has proved. */
function Ownership({ domain: { status, detail, proof_missing_since } }: { domain: Json }) {
  if (detail === null) return null
  const isBad = status === 'failed' || proof_missing_since !== null
  return (
    <p class={`notice ${isBad ? 'warn' : ''}`} role="status">
      {detail}
    </p>
  )
}

function NextStep({ domain: { status, proved_by, dns_records } }: { domain: Json }) {
  if (proved_by === 'txt') return null
  const missing = dns_records.filter(({ required, status }: Json) => required && status !== 'valid').length
  if (missing === 0) return null
  return (
    <p class={`notice ${status === 'verified' ? 'warn' : ''}`}>
      {missing === 1
        ? 'One required record is not as it should be.'
        : `${missing} required records are not as they should be.`}{' '}
      Publish at the DNS host of the domain what stands below, with any proxy of it off. New records are seen within
      minutes, changed ones after their old time to live. DNS is looked at every few minutes by itself.
    </p>
  )
}

function TrackingCard({ domain, onChange }: { domain: Json; onChange: (domain: Json) => void }) {
  const { opens, clicks, unsubscribe, host } = domain.tracking
  return (
    <section class="card stack">
      <h2>Tracking</h2>
      <p class="muted">What happens where a message does not say otherwise.</p>
      <Form
        action="Save"
        onSubmit={async (values) => {
          const tracking = {
            opens: values.opens,
            clicks: values.clicks,
            unsubscribe: values.unsubscribe,
            host: values['tracking.host'] ?? null,
          }
          onChange(await patch(`/v1/domains/${domain.id}`, { tracking }))
          toast('Tracking saved')
        }}
      >
        <Check name="opens" label="Tell of opens, by an image that nobody sees" isOn={opens} />
        <Check name="clicks" label="Tell of clicks, by links through this server" isOn={clicks} />
        <Check name="unsubscribe" label="One-click unsubscribe in every message" isOn={unsubscribe} />
        <Field
          name="tracking.host"
          label="Host of links"
          hint={`A name under ${domain.name}; empty: that of this server. Its DNS record then stands above.`}
        >
          {(control) => <input {...control} defaultValue={host ?? ''} placeholder={`links.${domain.name}`} />}
        </Field>
      </Form>
    </section>
  )
}
