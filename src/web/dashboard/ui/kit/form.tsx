import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, errorText } from './api.ts'
import { focusFirstField } from './dialog.tsx'

/** A form that calls the API. Each field shows the API's error for the field of the same `name`:
 *
 *    <Form action="Create key" onSubmit={async (values) => { await post('/v1/api-keys', values) }} onDone={close}>
 *      <Field name="name" label="Name" hint="The app or person.">{(control) => <input {...control} required />}</Field>
 *      <Field name="mode" label="Mode">{(control) => <select {...control}>…</select>}</Field>
 *    </Form>
 *
 *  `onSubmit` gets the values of the named controls (valuesOf), once all of them are valid: until then, each that is not shows
 *  what the browser says of it. If it throws, `onDone` is not called and the first
 *  invalid field gets the focus; an error without a field appears above the buttons. While it runs, neither Cancel nor Escape
 *  closes the form: its end would close what the user has opened since. */
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

  useLayoutEffect(() => {
    // In a dialog that was open before its data arrived.
    if (form.current?.closest('dialog[open]')) focusFirstField(form.current)
  }, [])
  useLayoutEffect(() => {
    if (!isBusy) return
    const stay = (event: KeyboardEvent) => event.key === 'Escape' && event.preventDefault()
    document.addEventListener('keydown', stay, { capture: true })
    return () => document.removeEventListener('keydown', stay, { capture: true })
  }, [isBusy])
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || form.current === null) return
    const invalid = invalidIn(form.current)
    if (invalid.length > 0) {
      const [inFields, others] = [invalid.filter(isInField), invalid.filter((control) => !isInField(control))]
      setFaults(Object.fromEntries(inFields.map(({ name, validationMessage }) => [name, validationMessage])))
      setOther(others[0]?.validationMessage ?? '')
      invalid[0]?.focus()
      return
    }
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
      setOther(known.length === 0 ? errorText(thrown) : '')
      form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(known[0] ?? '')}"]`)?.focus()
    } finally {
      setBusy(false)
    }
  }
  return (
    <FaultsOf.Provider value={faults}>
      <form
        class="stack"
        ref={form}
        noValidate
        onSubmit={submit}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) form.current?.requestSubmit()
        }}
      >
        {children}
        {other !== '' && (
          <div class="notice bad" role="alert">
            {other}
          </div>
        )}
        <div class="row form-actions">
          {onCancel && (
            <button type="button" onClick={() => isBusy || onCancel()}>
              Cancel
            </button>
          )}
          <button type="submit" class={isDangerous ? 'primary danger' : 'primary'} disabled={isBusy}>
            {isBusy ? 'Working…' : action}
          </button>
        </div>
      </form>
    </FaultsOf.Provider>
  )
}

// biome-ignore lint/suspicious/noExplicitAny: form values go into a request body, which the API validates
export type Values = Record<string, any>

/** Error messages by field name, for fields outside a Form. */
export const FaultsOf = createContext<Record<string, string>>({})

/** A label, one control, a hint and the error of the last submit. `children` gets the control's id, name and
 *  ARIA attributes. */
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

/** Attributes to spread onto the control of a Field. */
export interface ControlProps {
  id: string
  name: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** A checkbox with its label. Checkboxes with the same name and a `value` each form a list. A required one must be on to
 *  send the form. */
export function Check({
  name,
  label,
  value,
  isOn = false,
  isRequired = false,
}: {
  name: string
  label: ComponentChildren
  value?: string
  isOn?: boolean
  isRequired?: boolean
}) {
  const id = useId()
  return (
    <span class="choice">
      <input
        type="checkbox"
        id={id}
        name={name}
        value={value}
        defaultChecked={isOn}
        required={isRequired}
        data-list={value !== undefined}
      />
      <label for={id}>{label}</label>
    </span>
  )
}

/** Values of a form's named controls: text as a string, a number field as a number, a checkbox as a boolean, checkboxes
 *  with values as a list. Omits empty text. */
export function valuesOf(form: HTMLFormElement): Values {
  const values: Values = Object.create(null)
  for (const control of form.elements) {
    if (!isControl(control) || control.name === '') continue
    const { name, type, value, dataset } = control
    const isChecked = control instanceof HTMLInputElement && control.checked
    if (type === 'checkbox') {
      if (dataset.list !== 'true') values[name] = isChecked
      else values[name] = [...(values[name] ?? []), ...(isChecked ? [value] : [])]
    } else if (type === 'radio') {
      if (isChecked) values[name] = value
    } else if (value !== '') values[name] = type === 'number' ? Number(value) : value
  }
  return values
}

const isControl = (control: Element) =>
  control instanceof HTMLInputElement ||
  control instanceof HTMLSelectElement ||
  control instanceof HTMLTextAreaElement ||
  control instanceof HTMLButtonElement

/** Controls whose value the browser does not accept. */
const invalidIn = (form: HTMLFormElement) =>
  [...form.elements].filter(isControl).filter(({ validity }) => !validity.valid)

/** Whether a Field shows the error of the control. */
const isInField = (control: HTMLElement & { name: string }) => control.name !== '' && control.closest('.field') !== null

const isField = (form: HTMLFormElement | null, name: string) => form?.elements.namedItem(name) != null
