/** Every column with encrypted secrets, and the columns that identify its row in the place (encryption.ts). */
export const ENCRYPTED_COLUMNS = [
  { table: 'webhooks', row: ['id'], columns: ['secret', 'previous_secret', 'headers'] },
  { table: 'inbound_routes', row: ['id'], columns: ['secret', 'headers'] },
  { table: 'dkim_keys', row: ['domain_id', 'selector'], columns: ['private_key'] },
  { table: 'totp', row: ['user_id'], columns: ['secret'] },
  { table: 'erasures', row: ['id'], columns: ['address'] },
  { table: 'secrets', row: ['name'], columns: ['value'] },
]
