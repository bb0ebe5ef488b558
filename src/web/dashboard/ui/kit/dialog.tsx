import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { place } from './router.ts'

/** Focuses the first field that is empty, or the first one; does nothing without fields. */
export function focusFirstField(within: Element): void {
  const fields = within.querySelectorAll<HTMLInputElement>(
    ':is(input, textarea, select):not([type="checkbox"], [type="radio"], [type="hidden"], :disabled)',
  )
  const all = [...fields].filter((field) => field.checkVisibility())
  ;(all.find((field) => field.value === '' && !field.matches('select')) ?? all[0])?.focus()
}

/** A modal dialog, open while it is mounted, with the focus in its first empty field. Escape calls `onClose`; closing returns
 *  the focus to the element that had it. Opening and closing are synchronous: in a later frame they could undo what the
 *  user did in between.
 *
 *    {isOpen && <Dialog name="New key" onClose={() => setOpen(false)}><Form …/></Dialog>} */
export function Dialog({
  name,
  className,
  onClose,
  children,
}: {
  name: string
  className?: string
  onClose: () => void
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    if (shown) focusFirstField(shown)
    return () => shown?.close()
  }, [])
  return (
    <dialog
      class={className}
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return // of a file field in it, whose chooser the user has closed
        event.preventDefault()
        onClose()
      }}
    >
      <div class="stack">
        <h2 id={id}>{name}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** The button at the end of a dialog without a form. */
export function CloseButton({ label = 'Done', onClose }: { label?: string; onClose: () => void }) {
  return (
    <div class="actions">
      <button type="button" class="primary" onClick={onClose}>
        {label}
      </button>
    </div>
  )
}

interface Question {
  name: string
  text: ComponentChildren
  action: string
  dismiss: string
  isDangerous: boolean
  typed: string
  answer: (yes: boolean) => void
}

const question = signal<Question | null>(null)

/** Asks a question in a dialog; resolves with whether the user chose the action. Escape means no.
 *
 *    if (await confirm({name: 'Revoke this key?', text: '…', action: 'Revoke', isDangerous: true})) … */
export function confirm(asked: {
  name: string
  text: ComponentChildren
  action: string
  /** Label of the other button; "Cancel" by default. */
  dismiss?: string
  isDangerous?: boolean
  /** What the user must type before the action can be chosen; '' for nothing. */
  typed?: string
}): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      question.value = null
      resolve(yes)
    }
    question.value = { dismiss: 'Cancel', isDangerous: false, typed: '', ...asked, answer }
  })
}

/** Renders the open question of `confirm`. The layout contains it once. Back to another page, or the end of the session,
 *  means no. */
export function ConfirmDialog() {
  const { path } = place.value
  useLayoutEffect(() => () => question.peek()?.answer(false), [path])
  return question.value === null ? null : <Asked of={question.value} />
}

function Asked({ of: { name, text, action, dismiss, isDangerous, typed, answer } }: { of: Question }) {
  const [given, setGiven] = useState('')
  const id = useId()
  return (
    <Dialog name={name} onClose={() => answer(false)}>
      <div class="break">{text}</div>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (given.trim() === typed) answer(true)
        }}
      >
        {typed !== '' && (
          <div class="field">
            <label class="break" for={id}>
              Type <bdi>{typed}</bdi> to confirm
            </label>
            <input
              id={id}
              autoComplete="off"
              autoCapitalize="off"
              spellcheck={false}
              value={given}
              onInput={(event) => setGiven(event.currentTarget.value)}
            />
          </div>
        )}
        <div class="actions">
          <button type="button" onClick={() => answer(false)}>
            {dismiss}
          </button>
          <button type="submit" class={isDangerous ? 'primary danger' : 'primary'} disabled={given.trim() !== typed}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
