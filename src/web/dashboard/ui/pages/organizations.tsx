import { useState } from 'preact/hooks'
import { get, type Json, loadSession, patch, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { when } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Empty, Head, Options } from '../kit/pieces.tsx'
import { go } from '../kit/router.ts'
import { organization, switchOrganization } from '../kit/state.ts'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { toast } from '../kit/toast.tsx'
import { limitsText, type Plan } from './organizations/limits.ts'

/** Organizations with their plans. Usage is in the settings of each. */
export default function OrganizationsPage() {
  const pages = usePages('/v1/organizations', {})
  const plans = useLoad<{ data: Plan[] }>((signal) => get('/v1/plans', {}, signal), []).data?.data
  const [dialog, setDialog] = useState<'create' | Json | null>(null)
  const finish = async (text: string) => {
    setDialog(null)
    toast(text)
    pages.reload()
    await loadSession()
  }
  const create = (
    <button type="button" class="primary" onClick={() => setDialog('create')}>
      Create organization
    </button>
  )
  const columns: Column<Json>[] = [
    {
      name: 'Name',
      width: '28%',
      phone: 'top-left',
      show: ({ name }) => <strong>{name}</strong>,
      by: ({ name }) => name,
    },
    { name: 'Plan', width: '120px', phone: 'last', show: ({ plan }) => plan, by: ({ plan }) => plan },
    { name: 'Limits', phone: 'sub', show: ({ plan }) => limitsText(plans?.find((each) => each.plan === plan)) },
    { name: 'Created', width: '180px', show: ({ created_at }) => when(created_at), by: ({ created_at }) => created_at },
    {
      name: '',
      width: '52px',
      phone: 'end',
      show: (row) => (
        <Menu name={`Actions of ${row.name}`}>
          <MenuItem icon="pencil" onPress={() => setDialog(row)}>
            Edit
          </MenuItem>
          <MenuItem
            icon="chart-column"
            onPress={() => {
              switchOrganization(row)
              go('/settings', { tab: 'plan' })
            }}
          >
            View usage
          </MenuItem>
          {row.id !== organization.value?.id && (
            <MenuItem
              icon="building"
              onPress={() => {
                switchOrganization(row)
                go('/')
              }}
            >
              Switch to {row.name}
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ]
  return (
    <div class="stack">
      <Head
        name="Organizations"
        about="Each organization has its own domains, keys, webhooks and messages, and cannot access those of others."
      >
        {create}
      </Head>
      <div>
        <Table
          name="Organizations"
          columns={columns}
          loaded={pages}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name="No organizations yet">{create}</Empty>}
        />
        <Pager pages={pages} />
      </div>
      {dialog === 'create' && (
        <Dialog name="Create organization" onClose={() => setDialog(null)}>
          <Form
            action="Create organization"
            onCancel={() => setDialog(null)}
            onSubmit={async (values) => {
              await post('/v1/organizations', values)
              await finish(`${values.name} created`)
            }}
          >
            <Fields plans={plans} plan="free" />
          </Form>
        </Dialog>
      )}
      {dialog !== null && dialog !== 'create' && (
        <Dialog name={`Edit ${dialog.name}`} onClose={() => setDialog(null)}>
          <Form
            action="Save"
            onCancel={() => setDialog(null)}
            onSubmit={async (values) => {
              await patch(`/v1/organizations/${dialog.id}`, values)
              await finish(`${values.name} saved`)
            }}
          >
            <Fields plans={plans} name={dialog.name} plan={dialog.plan} />
            <p class="notice warn">
              A plan with a shorter retention period deletes older messages, events and inbound mail.
            </p>
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
      <Field name="plan" label="Plan" hint="Plans are defined in the config file.">
        {(control) => (
          <select {...control}>
            <Options of={plans.map((each) => [each.plan, `${each.plan}: ${limitsText(each)}`])} chosen={plan} />
          </select>
        )}
      </Field>
    </>
  )
}
