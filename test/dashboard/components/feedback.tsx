import { useState } from 'preact/hooks'
import { ApiError } from '../../../src/web/dashboard/ui/kit/api.ts'
import { CloseButton, ConfirmDialog, confirm, Dialog } from '../../../src/web/dashboard/ui/kit/dialog.tsx'
import { KeyHelp, openKeyHelp, openPalette, PaletteSlot } from '../../../src/web/dashboard/ui/kit/keys.tsx'
import { NeedsRole } from '../../../src/web/dashboard/ui/kit/needs-role.tsx'
import { ErrorNotice, Pending, Unloaded } from '../../../src/web/dashboard/ui/kit/pieces.tsx'
import { Toasts, toast, toastError } from '../../../src/web/dashboard/ui/kit/toast.tsx'

/** Notices, dialogs, toasts and the palette; buttons open those that cover the page. */
export function Feedback() {
  const [isOpen, setOpen] = useState(false)
  const ask = () =>
    confirm({ name: 'Delete this?', text: 'This cannot be undone.', action: 'Delete', isDangerous: true })
  return (
    <section class="card stack" aria-label="Feedback">
      <h2>Feedback</h2>
      {['', 'good', 'warn', 'bad'].map((tone) => (
        <p key={tone} class={`notice ${tone}`}>
          A notice{tone === '' ? '' : ` with the tone “${tone}”`}.
        </p>
      ))}
      <ErrorNotice error={new ApiError(500, 'internal', 'Something failed.')} onRetry={() => {}} />
      <Pending error={undefined} onRetry={() => {}} />
      <Unloaded name="Domain" error={new ApiError(404, 'not_found', 'No such domain.')} onRetry={() => {}}>
        <a href="#domains">All domains</a>
      </Unloaded>
      <NeedsRole name="Users" operation="users_list" />
      <div class="row">
        <button type="button" onClick={() => setOpen(true)}>
          Open dialog
        </button>
        <button type="button" onClick={ask}>
          Open question
        </button>
        <button type="button" onClick={() => toast('Saved')}>
          Show toast
        </button>
        <button type="button" onClick={() => toastError(new ApiError(409, 'conflict', 'The name is used.'))}>
          Show error
        </button>
        <button type="button" onClick={openKeyHelp}>
          Open shortcuts
        </button>
        <button type="button" onClick={openPalette}>
          Open palette
        </button>
      </div>
      {isOpen && (
        <Dialog name="A dialog" onClose={() => setOpen(false)}>
          <p>Content of the dialog.</p>
          <CloseButton onClose={() => setOpen(false)} />
        </Dialog>
      )}
      <ConfirmDialog />
      <KeyHelp />
      <PaletteSlot />
      <Toasts />
    </section>
  )
}
