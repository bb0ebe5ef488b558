import { useState } from 'preact/hooks'
import { get, type Json, patch, post, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { Check, Field, Form } from '../kit/form.tsx'
import { ago, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Head } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { go, href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt, toast, toastError } from '../kit/toast.tsx'
import { DnsRecords } from './domain/dns-records.tsx'

/** One domain: DNS records, DKIM keys and tracking. */
export default function DomainPage({ domain_id: id }: { domain_id: string }) {
  const { data, error, reload } = useLoad((signal) => get(`/v1/domains/${id}`, {}, signal), [id])
  const [changed, setChanged] = useState<Json>()
  const [isChecking, setChecking] = useState(false)
  const domain: Json = changed ?? data
  if (domain === undefined) return error ? <ErrorNotice error={error} onRetry={reload} /> : <Head name="Domain" />

  const check = async () => {
    setChecking(true)
    try {
      const now = await post(`/v1/domains/${id}/verify`)
      setChanged(now)
      toast(now.status === 'verified' ? `${now.name} is verified` : 'Some required records are missing or wrong')
    } catch (thrown) {
      toastError(thrown)
    } finally {
      setChecking(false)
    }
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
  const drop = async () => {
    const isSure = await confirm({
      name: `Delete ${domain.name}?`,
      text: 'Its API keys stop working immediately and its DKIM keys are deleted. To send from it again, add it and publish new records.',
      action: 'Delete domain',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/domains/${id}`), `${domain.name} deleted`))) go('/domains')
  }
  return (
    <div class="stack">
      <Head name={domain.name} about={checkedText(domain)}>
        <Chip word={domain.status} />
        {may('domains_verify') && (
          <button type="button" class="primary" onClick={check} disabled={isChecking}>
            {isChecking ? 'Checking…' : 'Check DNS'}
          </button>
        )}
      </Head>
      <Ownership domain={domain} />
      <NextStep domain={domain} />
      <DnsHost id={id} />
      <DnsRecords domain={domain} />
      {may('domains_dmarc') && (
        <section class="card row apart">
          <div class="stack tight">
            <h2>DMARC and TLS reports</h2>
            <p class="muted">What other mail servers report about mail in the name of this domain.</p>
          </div>
          <a class="button" href={href(`/domains/${id}/senders`)}>
            Who sends as you
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
      {may('domains_delete') && (
        <div class="row">
          <button type="button" class="danger" onClick={drop}>
            Delete domain
          </button>
        </div>
      )}
    </div>
  )
}

function checkedText({ last_checked_at, verified_at }: Json): string {
  if (last_checked_at === null) return 'Not checked yet.'
  return `Checked ${ago(last_checked_at)}${verified_at === null ? '' : `, verified ${when(verified_at)}`}.`
}

/** Explains the status if a proof of ownership is missing or another organization has verified the name. */
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
      {missing === 1 ? 'One required record is missing or wrong.' : `${missing} required records are missing or wrong.`}{' '}
      Publish the records below at the domain’s DNS host, with its proxy turned off. New records are visible within
      minutes, changed ones after their old TTL. Postrider checks every few minutes.
    </p>
  )
}

/** Where the records are edited. Nothing if the provider is not known. */
function DnsHost({ id }: { id: string }) {
  const { data } = useLoad((signal) => get(`/v1/domains/${id}/dns-host`, {}, signal), [id])
  const isKnown = data !== undefined && data.name !== null
  return (
    <p class="notice dns-host" aria-busy={data === undefined}>
      {isKnown ? (
        <>
          The DNS provider of this domain is <strong>{data.name}</strong>:{' '}
          <a href={data.console_url} target="_blank" rel="noreferrer">
            open its DNS console
          </a>
          . In its forms, {data.advice}
        </>
      ) : data === undefined ? (
        'Looking for the DNS provider…'
      ) : (
        'Edit the records where the domain’s DNS is hosted. If its form appends the domain, use the short host names below.'
      )}
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
          hint={`A name under ${domain.name}. Its DNS record then appears above. Default: the name of this server.`}
        >
          {(control) => <input {...control} defaultValue={host ?? ''} placeholder={`links.${domain.name}`} />}
        </Field>
      </Form>
    </section>
  )
}
