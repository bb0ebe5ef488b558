import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A modal dialog, open while it is mounted. Escape calls `onClose`; closing returns the focus to the element that had
 *  it. Opening and closing are synchronous: in a later frame they could undo what the user did in between.
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
    return () => shown?.close()
  }, [])
  return (
    <dialog
      class={className}
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
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

interface Question {
  name: string
  text: ComponentChildren
  action: string
  dismiss: string
  isDangerous: boolean
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
}): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      question.value = null
      resolve(yes)
    }
    question.value = { dismiss: 'Cancel', isDangerous: false, ...asked, answer }
  })
}

/** Renders the open question of `confirm`. The layout contains it once. */
export function ConfirmDialog() {
  if (question.value === null) return null
  const { name, text, action, dismiss, isDangerous, answer } = question.value
  return (
    <Dialog name={name} onClose={() => answer(false)}>
      <div class="break">{text}</div>
      <div class="actions">
        <button type="button" onClick={() => answer(false)}>
          {dismiss}
        </button>
        <button type="button" class={isDangerous ? 'primary danger' : 'primary'} onClick={() => answer(true)}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}
