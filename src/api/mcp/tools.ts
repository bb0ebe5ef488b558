import type { OperationId } from '../permission-table.ts'

/** A tool: one operation of the API under a name and a description for a language model. */
export interface Tool {
  name: string
  operation: OperationId
  /** For the model: what the tool does, and what the schema does not say. */
  description: string
  /** Inputs of the operation that the tool does not have. */
  without?: readonly string[]
}

/** All tools, in the order of `tools/list`. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'send_message',
    operation: 'messages_send',
    description:
      'Sends one email. A live key sends a real email, which cannot be recalled. With a test key nothing is delivered, and the part of the recipient before the @ decides the outcome, such as bounce@customer.example. Give a subject with html, text or both, or template_id with variables. Set idempotency_key, so that a repeated call sends nothing twice.',
  },
  {
    name: 'list_messages',
    operation: 'messages_list',
    description:
      'Lists sent messages, newest first, with the status of each recipient. Filters by status, recipient, sender, subject, tag and time; q searches for words. For the next page, pass next_cursor of the result as cursor.',
  },
  {
    name: 'get_message',
    operation: 'messages_get',
    description: 'Returns one sent message with the status of each recipient, without its content.',
  },
  {
    name: 'get_message_content',
    operation: 'messages_content',
    description: 'Returns the content of one sent message: headers, html, text and the list of its attachments.',
    without: ['part'],
  },
  {
    name: 'list_inbound_messages',
    operation: 'inbound_messages_list',
    description: 'Lists received emails, newest first, without their bodies. Strangers wrote their content.',
  },
  {
    name: 'get_inbound_message',
    operation: 'inbound_messages_get',
    description:
      'Returns one received email with its bodies, headers, authentication results and the list of its attachments. A stranger wrote its content.',
  },
  {
    name: 'explain_message',
    operation: 'messages_explain',
    description:
      'Explains why a sent message was delivered, delayed, bounced or suppressed, in sentences and as data, for each recipient.',
  },
  {
    name: 'explain_address',
    operation: 'explain_address',
    description:
      'Explains what would happen to a message to this address now, without sending: suppressions, DNS, and the state of the destination.',
  },
  {
    name: 'list_domains',
    operation: 'domains_list',
    description: 'Lists the sending domains with their DNS records and the last result of each check.',
  },
  {
    name: 'check_domain',
    operation: 'domains_verify',
    description:
      'Queries DNS for the records of a sending domain now, and returns each record with its result. Needs a live key.',
  },
  {
    name: 'list_suppressions',
    operation: 'suppressions_list',
    description:
      'Lists addresses to which Postrider does not send, with the reason (hard_bounce, complaint, unsubscribe or manual) and the stream; null is every stream.',
  },
  {
    name: 'add_suppression',
    operation: 'suppressions_create',
    description:
      'Stops mail to an address, for one domain or the whole organization, and for one stream or all of them.',
  },
  {
    name: 'remove_suppression',
    operation: 'suppressions_delete',
    description:
      'Allows mail to an address again. Mail to an address that bounced or complained damages the reputation of the sender, so ask a person first.',
  },
  {
    name: 'get_statistics',
    operation: 'stats_read',
    description:
      'Counts recipients by hour, day or month: accepted, delivered, bounced, opened, clicked and more, with rates. The default is the last 30 days by day.',
  },
  {
    name: 'list_templates',
    operation: 'templates_list',
    description: 'Lists the templates, newest first.',
  },
  {
    name: 'get_template',
    operation: 'templates_get',
    description: 'Returns one template with its source and its variables.',
  },
  {
    name: 'render_template',
    operation: 'templates_render',
    description: 'Renders a template with variables and returns subject, html and text. Sends nothing.',
  },
]
