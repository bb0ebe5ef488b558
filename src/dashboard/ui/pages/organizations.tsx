import { useState } from 'preact/hooks'
import { get, type Json, loadSession, patch, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { when } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { go } from '../kit/router.ts'
import { actFor, type OrganizationOption, organization } from '../kit/state.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { toast } from '../kit/toast.tsx'
import { limitWords, type Plan } from './organizations/limits.ts'
import { UsageCard } from './organizations/usage.tsx'

/** Who owns domains, keys and messages on this server, on which plan, and what the one that is chosen has used of it. */
export default function OrganizationsPage() {
  const pages = usePages('/v1/organizations', {})
  const plans = useLoad<{ data: Plan[] }>((signal) => get('/v1/plans', {}, signal), []).data?.data
  const [asking, setAsking] = useState<'create' | Json | null>(null)
  const done = async (words: string) => {
    setAsking(null)
    toast(words)
    pages.reload()
    await loadSession()
  }
  const create = (
    <button type="button" class="primary" onClick={() => setAsking('create')}>
      Create organization
    </button>
  )
  const columns: Column<Json>[] = [
    { name: 'Name', show: ({ name }) => <strong>{name}</strong>, by: ({ name }) => name },
    { name: 'Plan', isShort: true, show: ({ plan }) => plan, by: ({ plan }) => plan },
    { name: 'Limits', show: ({ plan }) => limitWords(plans?.find((each) => each.plan === plan)) },
    { name: 'Created', isShort: true, show: ({ created_at }) => when(created_at), by: ({ created_at }) => created_at },
    {
      name: '',
      isWhole: true,
      show: (row) => (
        <div class="row">
          <button type="button" class="tiny" onClick={() => setAsking(row)}>
            Change<span class="hidden"> {row.name}</span>
          </button>
          {row.id !== organization.value?.id && (
            <button
              type="button"
              class="tiny"
              onClick={() => {
                actFor(row as OrganizationOption)
                go('/')
              }}
            >
              Act for it<span class="hidden"> ({row.name})</span>
            </button>
          )}
        </div>
      ),
    },
  ]
  return (
    <div class="stack">
      <Head
        name="Organizations"
        about="Each has its own domains, keys, webhooks and messages, and sees nothing of the others."
      >
        {create}
      </Head>
      <div>
        <Table
          name="Organizations"
          columns={columns}
          loaded={pages}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name="No organization yet">{create}</Empty>}
        />
        <Pager pages={pages} />
      </div>
      {organization.value && <UsageCard key={organization.value.plan} name={organization.value.name} />}
      {asking === 'create' && (
        <Dialog name="Create an organization" onClose={() => setAsking(null)}>
          <Form
            action="Create organization"
            onCancel={() => setAsking(null)}
            onSubmit={async (values) => {
              await post('/v1/organizations', values)
              await done(`${values.name} is there`)
            }}
          >
            <Fields plans={plans} plan="free" />
          </Form>
        </Dialog>
      )}
      {asking !== null && asking !== 'create' && (
        <Dialog name={`Change ${asking.name}`} onClose={() => setAsking(null)}>
          <Form
            action="Save"
            onCancel={() => setAsking(null)}
            onSubmit={async (values) => {
              await patch(`/v1/organizations/${asking.id}`, values)
              await done(`${values.name} is changed`)
            }}
          >
            <Fields plans={plans} name={asking.name} plan={asking.plan} />
            <p class="notice warn">A plan of fewer days removes the messages, events and mail that it does not keep.</p>
          </Form>
        </Dialog>
      )}
    </div>
  )
}

function Fields({ plans = [], name, plan }: { plans: Plan[] | undefined; name?: string; plan: string }) {
  return (
    <>
      <Field name="name" label="Name">
        {(control) => <input {...control} required maxLength={100} defaultValue={name} autoComplete="off" />}
      </Field>
      <Field name="plan" label="Plan" hint="Plans stand in the config file.">
        {(control) => (
          <select {...control}>
            {plans.map((each) => (
              <option key={each.plan} value={each.plan} selected={each.plan === plan}>
                {each.plan}: {limitWords(each)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  )
}
