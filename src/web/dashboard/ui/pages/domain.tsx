import { useState } from 'preact/hooks'
import { get, type Json, patch, post } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { domainState } from '../kit/domain-state.ts'
import { Check, Field, Form } from '../kit/form.tsx'
import { ago, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Head, Unloaded, useBusy } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { DeleteDomain } from './domain/delete.tsx'
import { DnsRecords } from './domain/dns-records.tsx'

/** One domain: DNS records, DKIM keys and tracking. */
export default function DomainPage({ domain_id: id }: { domain_id: string }) {
  const { data, error, reload } = useLoad((signal) => get(`/v1/domains/${id}`, {}, signal), [id])
  const [changed, setChanged] = useState<Json>()
  const [isChecking, check] = useBusy(async () => {
    const now = await post(`/v1/domains/${id}/verify`)
    setChanged(now)
    // The rows show what failed; a message about it would have to repeat them.
    if (domainState(now).reason === '') toast(`${now.name} is ready`)
  })
  const domain: Json = changed ?? data
  if (domain === undefined) {
    return (
      <Unloaded name="Domain" error={error} onRetry={reload}>
        <p>It was deleted, or it belongs to another organization.</p>
        <a href={href('/domains')}>All domains</a>
      </Unloaded>
    )
  }

  const rotate = async () => {
    const isSure = await confirm({
      name: 'Rotate DKIM keys?',
      text: 'Publish the two new records afterwards. The current keys sign until the new ones are in DNS, so every message stays signed.',
      action: 'Rotate DKIM keys',
    })
    if (isSure)
      await attempt(async () => setChanged(await post(`/v1/domains/${id}/rotate-dkim`)), 'New DKIM keys created')
  }
  return (
    <div class="stack">
      <Head name={domain.name} about={checkedText(domain)}>
        <State domain={domain} />
        {may('domains_verify') && (
          <button type="button" class="primary" onClick={check} disabled={isChecking}>
            {isChecking ? 'Checking…' : 'Check DNS'}
          </button>
        )}
      </Head>
      <Ownership domain={domain} />
      <DnsRecords domain={domain} isChecking={isChecking} />
      {may('domains_dmarc') && (
        <section class="card row apart">
          <div class="stack tight">
            <h2>DMARC and TLS reports</h2>
            <p class="muted">What mailbox providers report about mail from this domain.</p>
          </div>
          <a class="button" href={href(`/domains/${id}/senders`)}>
            View reports
          </a>
        </section>
      )}
      <section class="card stack">
        <div class="row apart">
          <h2>DKIM keys</h2>
          {may('domains_rotate_dkim') && (
            <button type="button" class="tiny" onClick={rotate}>
              Rotate DKIM keys
            </button>
          )}
        </div>
        <ul class="plain-list stack tight">
          {domain.dkim.map(({ selector, algorithm, state, created_at }: Json) => (
            <li key={selector} class="row">
              <Chip word={state} />
              <span class="mono break">{selector}</span>
              <span class="muted">
                {algorithm}, created {when(created_at)}
              </span>
            </li>
          ))}
        </ul>
      </section>
      {may('domains_update') && <TrackingCard domain={domain} onChange={setChanged} />}
      {may('domains_delete') && <DeleteDomain domain={domain} />}
    </div>
  )
}

/** The chip of the head. A screen reader says it again when a check changes it. */
function State({ domain }: { domain: Json }) {
  const { word, tone } = domainState(domain)
  return (
    <span role="status">
      <Chip word={word} tone={tone} />
    </span>
  )
}

/** `Checked 4 min ago, next check in 6 min.` */
function checkedText({ last_checked_at, next_check_at }: Json): string {
  const next =
    next_check_at === null || Date.parse(next_check_at) <= Date.now() ? '' : `next check ${ago(next_check_at)}`
  if (last_checked_at === null) return `Not checked yet${next && `, ${next}`}.`
  return `Checked ${ago(last_checked_at)}${next && `, ${next}`}.`
}

/** Explains the status if a proof of ownership is missing or another organization has verified the name. */
function Ownership({ domain }: { domain: Json }) {
  const { status, detail, proof_missing_since } = domain
  if (detail === null) return null
  const isBad = status === 'failed' || proof_missing_since !== null || domainState(domain).tone === 'bad'
  return (
    <p class={`notice ${isBad ? 'warn' : ''}`} role="status">
      {detail}
    </p>
  )
}

function TrackingCard({ domain, onChange }: { domain: Json; onChange: (domain: Json) => void }) {
  const { opens, clicks, unsubscribe, host } = domain.tracking
  return (
    <section class="card stack">
      <h2>Tracking</h2>
      <p class="muted">Defaults for messages that do not set these options.</p>
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
        <Check name="opens" label="Track opens with an invisible image" isOn={opens} />
        <Check name="clicks" label="Track clicks with links through this server" isOn={clicks} />
        <Check name="unsubscribe" label="One-click unsubscribe in every message" isOn={unsubscribe} />
        <Field
          name="tracking.host"
          label="Tracking domain"
          hint={`A subdomain of ${domain.name}; its record appears above. Leave empty to use the name of this server.`}
        >
          {(control) => <input {...control} defaultValue={host ?? ''} placeholder={`links.${domain.name}`} />}
        </Field>
      </Form>
    </section>
  )
}
