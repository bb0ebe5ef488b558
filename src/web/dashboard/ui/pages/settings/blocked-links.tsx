import { type Json, post, remove } from '../../kit/api.ts'
import { Field, Form } from '../../kit/form.tsx'
import { when } from '../../kit/format.ts'
import { usePages } from '../../kit/load.ts'
import { Empty } from '../../kit/pieces.tsx'
import { type Column, Pager, Table } from '../../kit/table.tsx'
import { attempt, toast } from '../../kit/toast.tsx'

/** Targets to which tracked links do not redirect, and a form to block one. */
export function BlockedLinks() {
  const pages = usePages('/v1/blocked-links', {})
  const unblock = async ({ id, target }: Json) => {
    if (await attempt(() => remove(`/v1/blocked-links/${id}`), `${target} unblocked`)) pages.reload()
  }
  const columns: Column<Json>[] = [
    { name: 'Target', show: ({ target }) => <span class="mono break">{target}</span> },
    {
      name: 'Covers',
      isShort: true,
      show: ({ kind }) => (kind === 'host' ? 'Host and subdomains' : 'URLs with this prefix'),
    },
    { name: 'Reason', show: ({ reason }) => reason },
    { name: 'Blocked', isShort: true, show: ({ created_at }) => when(created_at) },
    {
      name: '',
      isWhole: true,
      show: (row) => (
        <button type="button" class="tiny" onClick={() => unblock(row)}>
          Unblock<span class="hidden"> {row.target}</span>
        </button>
      ),
    },
  ]
  return (
    <div class="stack">
      <section class="card stack">
        <h2>Block a click target</h2>
        <p class="muted">
          Tracked links to this target return 410 and a notice instead of redirecting. This applies to all organizations
          and to messages already sent.
        </p>
        <Form
          action="Block"
          onSubmit={async ({ target, reason }) => {
            await post('/v1/blocked-links', { target, reason })
            toast('Target blocked')
            pages.reload()
          }}
        >
          <Field
            name="target"
            label="Host or URL"
            hint="For example phishing.example, or the start of a URL: https://files.example/invoice"
          >
            {(control) => <input {...control} required autoComplete="off" spellcheck={false} />}
          </Field>
          <Field name="reason" label="Reason" hint="Shown to operators only.">
            {(control) => <input {...control} required autoComplete="off" />}
          </Field>
        </Form>
      </section>
      <Table
        name="Blocked links"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={<Empty name="No blocked links" />}
      />
      <Pager pages={pages} />
    </div>
  )
}
