import { useState } from 'preact/hooks'
import { post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form, type Values } from '../../kit/form.tsx'
import { createPasskey, hasPasskeys } from '../../kit/passkeys.ts'
import { Time } from '../../kit/pieces.tsx'
import { type Column, Table } from '../../kit/table.tsx'
import { toast } from '../../kit/toast.tsx'
import { Confirmed, ConfirmFields, type Factors } from './confirm-fields.tsx'

type Passkey = Factors['passkeys'][number]

/** Passkeys of the user. */
export function Passkeys({ factors, onDone }: { factors: Factors; onDone: () => void }) {
  const [dialog, setDialog] = useState<'add' | Passkey | null>(null)
  const close = () => {
    setDialog(null)
    onDone()
  }
  const add = async ({ name, ...confirmation }: Values) => {
    const credential = await createPasskey(await post('/session/passkeys/options', confirmation))
    await post('/session/passkeys', { name, credential })
    toast('Passkey added')
  }
  const columns: Column<Passkey>[] = [
    { name: 'Name', phone: 'top-left', show: ({ name }) => name },
    { name: 'Added', width: '120px', show: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Last used', width: '120px', phone: 'sub', show: ({ last_used_at }) => <Time at={last_used_at} /> },
    {
      name: '',
      width: '100px',
      phone: 'end',
      show: (passkey) => (
        <button type="button" class="tiny" onClick={() => setDialog(passkey)}>
          Remove<span class="hidden"> {passkey.name}</span>
        </button>
      ),
    },
  ]
  const isEmpty = factors.passkeys.length === 0
  return (
    <section class={isEmpty ? 'card stack' : 'stack'} aria-labelledby="passkeys">
      <div class="row apart">
        <h2 id="passkeys">Passkeys</h2>
        {hasPasskeys() && (
          <button type="button" onClick={() => setDialog('add')}>
            Add passkey
          </button>
        )}
      </div>
      {isEmpty ? (
        <p class="muted">
          {hasPasskeys()
            ? 'Sign in with your fingerprint, face or PIN. No password or code.'
            : 'Passkeys need HTTPS and a domain name. Open the dashboard under its public URL.'}
        </p>
      ) : (
        <Table
          name="Passkeys"
          columns={columns}
          loaded={{ data: factors.passkeys, error: undefined, isLoading: false, reload: onDone }}
          keyOf={({ id }) => id}
          whenEmpty={null}
        />
      )}
      {dialog === 'add' && (
        <Dialog name="Add a passkey" onClose={close}>
          <Confirmed of={factors}>
            <Form action="Continue" onSubmit={add} onDone={close} onCancel={close}>
              <Field name="name" label="Name" hint="The device or password manager that stores it.">
                {(control) => <input {...control} required maxLength={100} />}
              </Field>
              <ConfirmFields of={factors} />
            </Form>
          </Confirmed>
        </Dialog>
      )}
      {dialog !== null && dialog !== 'add' && (
        <Dialog name={`Remove ${dialog.name}?`} onClose={close}>
          <p>It no longer signs you in. Your other sessions end.</p>
          <Confirmed of={factors}>
            <Form
              action="Remove"
              isDangerous
              onSubmit={(values) => post('/session/passkeys/remove', { id: dialog.id, ...values })}
              onDone={close}
              onCancel={close}
            >
              <ConfirmFields of={factors} />
            </Form>
          </Confirmed>
        </Dialog>
      )}
    </section>
  )
}
