import { useState } from 'preact/hooks'
import { ApiError } from '../../../src/web/dashboard/ui/kit/api.ts'
import { Check, FaultsOf, Field, Form } from '../../../src/web/dashboard/ui/kit/form.tsx'
import { Icon } from '../../../src/web/dashboard/ui/kit/icon.tsx'
import { Menu, MenuItem } from '../../../src/web/dashboard/ui/kit/menu.tsx'
import {
  Choice,
  Copied,
  CopyButton,
  FilterChips,
  Filters,
  Options,
  Segments,
  Tabs,
} from '../../../src/web/dashboard/ui/kit/pieces.tsx'
import { MODES } from '../../../src/web/dashboard/ui/kit/state.ts'

const SIZES = [
  ['small', 'Small'],
  ['large', 'Large'],
] as const

/** Buttons, menus, choices, filters and forms. */
export function Controls() {
  const [size, setSize] = useState<'small' | 'large'>('small')
  const [chips, setChips] = useState<readonly (readonly [string, string])[]>([
    ['status', 'Status: bounced'],
    ['to', 'To: ann@customer.example'],
  ])
  return (
    <>
      <section class="card stack" aria-label="Buttons">
        <h2>Buttons</h2>
        <div class="row">
          <button type="button">Button</button>
          <button type="button" class="primary">
            Primary
          </button>
          <button type="button" class="danger">
            Dangerous
          </button>
          <button type="button" class="primary danger">
            Dangerous, primary
          </button>
          <button type="button" class="plain">
            Plain
          </button>
          <button type="button" class="tiny">
            Small
          </button>
          <button type="button" disabled>
            Disabled
          </button>
          <button type="button">
            <Icon name="plus" />
            With icon
          </button>
          <CopyButton text="msg_1" label="ID" />
          <Copied text="msg_1" label="name" />
          <Menu name="Actions of a row">
            <MenuItem icon="copy" onPress={() => {}}>
              Copy ID
            </MenuItem>
            <MenuItem icon="send" href="/dashboard/messages">
              Open
            </MenuItem>
            <MenuItem icon="trash" isDangerous onPress={() => {}}>
              Delete
            </MenuItem>
          </Menu>
        </div>
      </section>
      <section class="card stack" aria-label="Choices">
        <h2>Choices</h2>
        <div class="row">
          <Choice name="Size" value={size} options={SIZES} onChange={setSize} />
          <Segments name="Size of the row" options={SIZES} chosen={size} onChoose={setSize} />
        </div>
        <Tabs name="Sizes" tabs={SIZES} chosen={size} onChoose={setSize}>
          <p>Panel of the tab “{size}”</p>
        </Tabs>
        <Filters search="receipt" onSearch={() => {}} placeholder="Search messages">
          <Choice name="Size of the filter" value={size} options={SIZES} onChange={setSize} />
        </Filters>
        <FilterChips filters={chips} onRemove={(ids) => setChips(chips.filter(([id]) => !ids.includes(id)))} />
        <details>
          <summary>More</summary>
          <p>Content of the disclosure.</p>
        </details>
      </section>
      <Forms />
    </>
  )
}

function Forms() {
  const refuse = async () => {
    throw new ApiError(400, 'validation_error', 'The form has errors.', { name: 'Name is already used.' })
  }
  return (
    <section class="card stack" aria-label="Forms">
      <h2>Forms</h2>
      <Form action="Save" onSubmit={refuse} onCancel={() => {}}>
        <Field name="name" label="Name" hint="The app or person.">
          {(control) => <input {...control} defaultValue="Shop" />}
        </Field>
        <Field name="mode" label="Mode">
          {(control) => (
            <select {...control}>
              <Options of={MODES} />
            </select>
          )}
        </Field>
        <Field name="text" label="Text">
          {(control) => <textarea {...control} rows={2} />}
        </Field>
        <Check name="opens" label="Track opens" isOn />
      </Form>
      <FaultsOf.Provider value={{ email: 'Enter an address such as ann@example.com.' }}>
        <Field name="email" label="Address with an error">
          {(control) => <input {...control} defaultValue="ann" />}
        </Field>
      </FaultsOf.Provider>
      <Form action="Delete" isDangerous onSubmit={async () => {}}>
        <p>A form whose action is dangerous.</p>
      </Form>
    </section>
  )
}
