import type { TestInstallation } from './setup.ts'

/** Sends as an application should: with the same Idempotency-Key until a 202, which is recorded in `acknowledged`
 *  with the id of its message. Gives up without an error once `isOver` returns true. */
export async function sendUntilAcknowledged(
  installation: Pick<TestInstallation, 'api'>,
  token: string,
  acknowledged: Map<string, string>,
  { text = 'Hello', isOver = () => false }: { text?: string; isOver?: () => boolean } = {},
): Promise<void> {
  const body = { from: 'us@example.com', to: `${token}@example.org`, subject: `token ${token}`, text }
  while (!isOver()) {
    const id = await accepted(installation, body, token).catch(() => null)
    if (id !== null) {
      acknowledged.set(token, id)
      return
    }
    await Bun.sleep(20)
  }
}

async function accepted(
  installation: Pick<TestInstallation, 'api'>,
  body: object,
  token: string,
): Promise<string | null> {
  const response = await installation.api('POST', '/v1/send', body, { 'Idempotency-Key': token })
  const { id } = (await response.json()) as { id: string }
  return response.status === 202 ? id : null
}
