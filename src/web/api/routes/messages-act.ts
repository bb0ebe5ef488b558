import { z } from 'zod'
import type { Message } from '../../../model/message.ts'
import { Refusal } from '../../../model/refusal.ts'
import type { Clock } from '../../../os/clock.ts'
import type { Notify } from '../../../os/notifier.ts'
import type { Accepted } from '../../../sending/submission/request.ts'
import { requestAgain } from '../../../sending/submission/resend.ts'
import type { Submission } from '../../../sending/submission/submission.ts'
import type { Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireFound } from '../errors.ts'
import { type ApiResponse, type Operation, operation } from '../operation.ts'
import { deleted } from '../rendered-response.ts'
import { acceptedRecord, contentGone, loadMessage, messageRecord } from './message-record.ts'
import { createScheduledAt } from './messages-body.ts'

export interface ActDeps {
  store: Pick<Store, 'messages'>
  clock: Clock
  submission: Submission
  notify: Notify
}

/** The operations that cancel, reschedule or resend an existing message. */
export function actOperations({ store, clock, submission, notify }: ActDeps): Operation[] {
  const load = loadMessage({ store })

  /** Response with the message's record after a change. */
  const present = async (id: string): Promise<ApiResponse> => {
    const [message, deliveries] = await Promise.all([store.messages.get(id), store.messages.deliveries(id)])
    return { status: 200, body: messageRecord(requireFound(message, 'message'), deliveries) }
  }

  const cancel = operation({
    id: 'messages_cancel',
    method: 'POST',
    path: '/v1/messages/:message_id/cancel',
    tag: 'Messages',
    access: rule('send', 'support', 'test_records', 'own_domain'),
    summary: 'Cancel a scheduled or queued message',
    responses: async () => (await import('../responses/messages.ts')).messageResponses,
    refusals: ['invalid_state'],
    body: z.strictObject({}),
    bodyOptional: true,
    load,
    handle: async ({ resource: message }) => {
      const result = await store.messages.cancel(message.id, clock.now())
      if (result === 'invalid_state') throw tooLate(message, 'Only messages that are not yet sent can be cancelled.')
      return present(message.id)
    },
  })

  const reschedule = operation({
    id: 'messages_update',
    method: 'PATCH',
    path: '/v1/messages/:message_id',
    tag: 'Messages',
    access: rule('send', 'support', 'test_records', 'own_domain'),
    summary: 'Reschedule a message',
    responses: async () => (await import('../responses/messages.ts')).messageResponses,
    refusals: ['invalid_state'],
    example: { scheduled_at: '2026-11-22T07:30:00Z' },
    body: z.strictObject({ scheduled_at: createScheduledAt(clock.now) }),
    load,
    handle: async ({ resource: message, body }) => {
      const now = clock.now()
      const result = await store.messages.reschedule(message.id, Math.max(body.scheduled_at, now), now)
      if (result === 'invalid_state') throw tooLate(message, 'Only scheduled messages can be rescheduled.')
      notify('deliveries')
      return present(message.id)
    },
  })

  const resend = operation({
    id: 'messages_resend',
    method: 'POST',
    path: '/v1/messages/:message_id/resend',
    tag: 'Messages',
    access: rule('send', 'support', 'test_records', 'own_domain'),
    summary: 'Resend a message',
    description:
      'Sends the same content to the same recipients as a new message. Requires that the content is still stored, and a key of the same mode. Suppressions and quota apply as for any new message.',
    responses: async () => [(await import('../responses/messages.ts')).acceptedResponse],
    refusals: ['domain_not_verified', 'quota_exceeded', 'invalid_state'],
    body: z.strictObject({}),
    bodyOptional: true,
    idempotent: true,
    load,
    reads: ({ sizeBytes }) => sizeBytes,
    handle: async ({ resource: message, key, remember }) => {
      if (message.mode !== key.mode) {
        throw tooLate(message, `A ${message.mode} message can only be resent with a ${message.mode} key.`)
      }
      const content = await store.messages.content(message.id)
      if (content === null) throw tooLate(message, (await contentGone(store, message.id)).message)
      const answer = (accepted: Accepted): ApiResponse => ({ status: 202, body: acceptedRecord(accepted) })
      const request = requestAgain(message, content)
      const author = { key, source: 'api' as const }
      return answer(await submission.submit(author, request, (accepted) => remember(answer(accepted))))
    },
  })

  const deleteContent = operation({
    id: 'messages_delete_content',
    method: 'DELETE',
    path: '/v1/messages/:message_id/content',
    tag: 'Messages',
    access: rule('manage', 'admin', 'test_records', 'own_domain'),
    summary: 'Delete the content of a message',
    description:
      'Deletes text, HTML, headers, attachments and the raw message. The message, its events and attempts remain. Refused while a delivery is open: cancel the message, or wait until it ends. Backups made before still contain the content.',
    responses: async () => (await import('../responses/content.ts')).contentDeletedResponses,
    refusals: ['invalid_state'],
    load,
    handle: async ({ resource: message, now }) => {
      const result = await store.messages.removeContent(message.id, 'request', now)
      if (result === 'invalid_state') throw tooLate(message, 'Deliveries are still open. Cancel the message first.')
      if (result === 'gone') throw await contentGone(store, message.id)
      return deleted(message.id)
    },
  })

  return [cancel, reschedule, resend, deleteContent]
}

function tooLate({ status, mode }: Message, message: string): Refusal {
  return new Refusal('invalid_state', message, { details: { status, mode } })
}
