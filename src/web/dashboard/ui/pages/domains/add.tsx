import { post } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { go, notePage } from '../../kit/router.ts'

/** The field and button that add a domain and open its page; get started has them in the page. `onClose` closes the dialog
 *  around them. */
export function AddDomainForm({ onClose }: { onClose?: () => void }) {
  return (
    <Form
      action="Add domain"
      {...(onClose && { onCancel: onClose })}
      onSubmit={async ({ name = '' }) => {
        const isStillHere = notePage()
        const { id } = await post('/v1/domains', { name: hostOf(name) })
        if (!isStillHere()) return
        onClose?.()
        go(`/domains/${id}`)
      }}
    >
      <Field
        name="name"
        label="Domain"
        hint="A subdomain such as mail.example.com keeps its reputation separate from your other mail."
      >
        {(control) => (
          <input
            {...control}
            required
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            placeholder="mail.example.com"
          />
        )}
      </Field>
    </Form>
  )
}

/** Dialog for a new domain. */
export function AddDomain({ onClose }: { onClose: () => void }) {
  return (
    <Dialog name="Add domain" onClose={onClose}>
      <AddDomainForm onClose={onClose} />
    </Dialog>
  )
}

/** A pasted URL or address → its host, such as `mail.shop.example` of `https://Mail.Shop.example/en` and of
 *  `ann@mail.shop.example`. The server checks the result. */
function hostOf(text: string): string {
  const afterScheme = text.trim().replace(/^[a-z]{1,10}:\/\//i, '')
  const [authority = ''] = afterScheme.split(/[/?#]/, 1)
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .toLowerCase()
}
