import type { Template } from '../../client/types.ts'
import { Refusal } from '../../model/refusal.ts'
import { fieldOf } from '../../os/records.ts'
import { messageOf } from '../../os/thrown.ts'
import { VERSION } from '../../version.ts'
import { withCliContext } from '../cli-context.ts'
import { CommandFailure } from '../failure.ts'
import { requireOrganization } from '../org.ts'
import { sanitize } from '../print.ts'
import { apiUrl, requireKey } from '../server-access.ts'

/** Where templates are stored: the local database, or a server. */
export interface Destination {
  /** Changes the template with this alias; null if there is none. */
  update(alias: string, body: TemplateBody): Promise<Template | null>
  create(body: TemplateBody & { alias: string; name: string }): Promise<Template>
}

/** Fields of the API. */
export interface TemplateBody {
  name?: string
  subject?: string
  html: string
  text: string
  sample: Record<string, unknown>
}

/** Runs `work` with the server at `url`, or without it with the local database. Throws CommandFailure for a server that
 *  cannot be reached or refuses, and for an unknown `org`; Refusal for what the database refuses. */
export async function withDestination<T>(
  options: { config: string; org?: string; url?: URL; apiKey?: string },
  work: (destination: Destination) => Promise<T>,
): Promise<T> {
  const { url, apiKey, org, config } = options
  if (url !== undefined) return work(serverDestination(url, requireKey(url, apiKey, 'manage')))
  return withCliContext(config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(org, store)
    return work({
      update: async (alias, body) => {
        try {
          return await operator.run('templates_update', { organizationId, params: { template_id: alias }, body })
        } catch (error) {
          if (error instanceof Refusal && error.reason === 'not_found') return null
          throw error
        }
      },
      create: (body) => operator.run('templates_create', { organizationId, body }),
    })
  })
}

const ANSWER_MS = 30_000

function serverDestination(base: URL, key: string): Destination {
  const ask = async (method: string, path: string, body: object): Promise<Template | null> => {
    const response = await fetch(apiUrl(base, path), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'user-agent': `Postrider/${VERSION}`,
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error) => {
      throw new CommandFailure(`${base.origin} cannot be reached: ${messageOf(error)}`)
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok && typeof fieldOf(answer, 'version') === 'number') return answer as Template
    const error = fieldOf(answer, 'error')
    if (response.status === 404 && fieldOf(error, 'code') === 'not_found') return null
    const message = fieldOf(error, 'message')
    if (typeof message !== 'string') throw new CommandFailure('url: not a Postrider server. Check the address.')
    throw new CommandFailure(`the server answered ${response.status}: ${sanitize(message)}`)
  }
  return {
    update: (alias, body) => ask('PATCH', `/v1/templates/${alias}`, body),
    create: async (body) => {
      const created = await ask('POST', '/v1/templates', body)
      if (created !== null) return created
      throw new CommandFailure('url: not a Postrider server. Check the address.')
    },
  }
}
