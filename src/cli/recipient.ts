import { withCliContext } from './cli-context.ts'
import { requireOrganization } from './org.ts'
import { print, printJson, table } from './print.ts'

/** Begins the erasure of an address and prints its id. Throws CommandFailure for an unknown `org`, and Refusal for a text
 *  that is not an address. */
export async function eraseRecipient(
  email: string,
  options: { config: string; json?: true; org?: string },
): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const answer = await operator.run('recipients_erase', { organizationId, body: { email } })
    if (options.json) printJson(answer)
    else print(`${answer.id} is ${answer.status}. The running server erases in the background.`)
  })
}

/** Prints the state of an erasure. Throws CommandFailure for an unknown `org`, and Refusal for an unknown id. */
export async function showErasure(id: string, options: { config: string; json?: true; org?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const answer = await operator.run('recipients_erasure_get', { organizationId, params: { erasure_id: id } })
    if (options.json) return printJson(answer)
    print(`${answer.id} is ${answer.status}`)
    for (const [name, count] of Object.entries(answer.removed)) print(`  ${name.replaceAll('_', ' ')}: ${count}`)
    for (const { type, id } of answer.remaining) print(`  still named by: ${[type.replaceAll('_', ' '), id].join(' ')}`)
  })
}

/** Prints the erasures of an organization, newest first, or "no erasures". Throws CommandFailure for an unknown `org`. */
export async function listErasures(options: { config: string; json?: true; org?: string }): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const all = await operator.listAll('recipients_erasures_list', organizationId)
    if (options.json) return printJson({ data: all })
    const rows = all.map(({ id, status, created_at, finished_at }) => [id, status, created_at, finished_at ?? ''])
    print(table(['id', 'status', 'created', 'finished'], rows) || 'no erasures')
  })
}
