import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useRef, useState } from 'preact/hooks'
import { ApiError, wordsOf } from './api.ts'

/** A form that calls the API. Fields take their faults from its answer by `name`, which is the name of the field there:
 *
 *    <Form action="Create key" onSubmit={async (values) => { await post('/v1/api-keys', values) }} onDone={close}>
 *      <Field name="name" label="Name" hint="What it is for.">{(control) => <input {...control} required />}</Field>
 *      <Field name="mode" label="Mode">{(control) => <select {...control}>…</select>}</Field>
 *    </Form>
 *
 *  `values` are those of the named controls inside: text as string ('' left out), a checkbox as boolean, several checkboxes
 *  of one name as a list. A fault that belongs to no field stands above the buttons; the first field at fault is focused. */
export function Form({
  action,
  onSubmit,
  onDone,
  onCancel,
  isDangerous = false,
  children,
}: {
  action: string
  onSubmit: (values: Values) => Promise<unknown>
  onDone?: () => void
  onCancel?: () => void
  isDangerous?: boolean
  children: ComponentChildren
}) {
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [other, setOther] = useState('')
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || form.current === null) return
    setBusy(true)
    setFaults({})
    setOther('')
    try {
      await onSubmit(valuesOf(form.current))
      onDone?.()
    } catch (thrown) {
      const fields = thrown instanceof ApiError ? thrown.fields : {}
      const known = Object.keys(fields).filter((name) => isField(form.current, name))
      setFaults(fields)
      setOther(known.length === 0 ? wordsOf(thrown) : '')
      form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(known[0] ?? '')}"]`)?.focus()
    } finally {
      setBusy(false)
    }
  }
  return (
    <FaultsOf.Provider value={faults}>
      <form class="stack" ref={form} onSubmit={submit} noValidate={false}>
        {children}
        {other !== '' && (
          <div class="notice bad" role="alert">
            {other}
          </div>
        )}
        <div class="row" style={{ justifyContent: 'flex-end' }}>
          {onCancel && (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          )}
          <button type="submit" class={isDangerous ? 'primary danger' : 'primary'} disabled={isBusy}>
            {isBusy ? 'One moment…' : action}
          </button>
        </div>
      </form>
    </FaultsOf.Provider>
  )
}

// biome-ignore lint/suspicious/noExplicitAny: what a form holds goes into the body of a call, whose schema decides
export type Values = Record<string, any>

/** Faults by the name of their field, for fields that stand in no Form. */
export const FaultsOf = createContext<Record<string, string>>({})

/** Label, one control, a hint and the fault of the last try. `children` gets id, name and what says that it is at fault. */
export function Field({
  name,
  label,
  hint,
  children,
}: {
  name: string
  label: string
  hint?: ComponentChildren
  children: (control: ControlProps) => ComponentChildren
}) {
  const id = useId()
  const fault = useContext(FaultsOf)[name]
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        'aria-invalid': fault === undefined ? undefined : true,
        'aria-describedby': described === '' ? undefined : described,
      })}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  )
}

/** Spread onto the control: `<Field …>{(control) => <input {...control} required />}</Field>` */
export interface ControlProps {
  id: string
  name: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** A box to tick with its words beside it. Several of one name with a `value` each make a list. */
export function Check({
  name,
  label,
  value,
  isOn = false,
}: {
  name: string
  label: ComponentChildren
  value?: string
  isOn?: boolean
}) {
  const id = useId()
  return (
    <span class="choice">
      <input type="checkbox" id={id} name={name} value={value} defaultChecked={isOn} data-list={value !== undefined} />
      <label for={id}>{label}</label>
    </span>
  )
}

/** What a form holds. */
export function valuesOf(form: HTMLFormElement): Values {
  const values: Values = Object.create(null)
  for (const control of form.elements) {
    const { name, type, value } = control as HTMLInputElement
    if (name === '') continue
    if (type === 'checkbox') {
      const { checked, dataset } = control as HTMLInputElement
      if (dataset.list !== 'true') values[name] = checked
      else values[name] = [...(values[name] ?? []), ...(checked ? [value] : [])]
    } else if (type === 'radio') {
      if ((control as HTMLInputElement).checked) values[name] = value
    } else if (value !== '') values[name] = type === 'number' ? Number(value) : value
  }
  return values
}

const isField = (form: HTMLFormElement | null, name: string) => form?.elements.namedItem(name) != null
