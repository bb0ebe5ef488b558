import { computed, effect, signal } from '@preact/signals'
import { errorText } from './api.ts'
import { organization, session } from './state.ts'

interface Toast {
  id: number
  text: string
  tone: 'good' | 'bad'
  undo?: (() => unknown) | undefined
}

const toasts = signal<Toast[]>([])
let count = 0

effect(() => {
  if (session.value === null) toasts.value = [] // of the user who has signed out
})

const organizationId = computed(() => organization.value?.id)
effect(() => {
  organizationId.value
  toasts.value = toasts.peek().filter(({ undo }) => undo === undefined) // it would change the organization selected now
})

/** Shows a confirmation for 4 s and announces it to screen readers. With `undo`, it has a button that takes the action back,
 *  for 10 s. */
export function toast(text: string, undo?: () => unknown): void {
  show({ text, tone: 'good', undo }, undo === undefined ? 4_000 : 10_000)
}

/** Shows an error for 12 s and announces it to screen readers. */
export function toastError(thrown: unknown): void {
  show({ text: errorText(thrown), tone: 'bad' }, 12_000)
}

/** Runs `work`, then shows `done` or the error. Resolves with whether it succeeded; never rejects. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done !== undefined) toast(done)
    return true
  } catch (thrown) {
    toastError(thrown)
    return false
  }
}

function show(shown: Omit<Toast, 'id'>, forMs: number): void {
  const id = ++count
  toasts.value = [...toasts.value.slice(-3), { id, ...shown }]
  window.setTimeout(() => dismiss(id), forMs)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Renders the toasts, at most four. The layout contains it once. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, undo }) => (
        <div key={id} class={`toast ${tone}`}>
          <span class="break grow">{text}</span>
          {undo && (
            <button
              type="button"
              class="tiny"
              onClick={() => {
                dismiss(id)
                undo()
              }}
            >
              Undo
            </button>
          )}
          <button type="button" class="plain tiny" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
