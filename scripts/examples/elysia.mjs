import { Elysia } from 'elysia'
import { unwrap, WebhookVerificationError } from 'postrider'

const app = new Elysia()
  .onError(({ error, status }) => {
    if (error instanceof WebhookVerificationError) return status(401, error.message)
  })
  // parse: 'none' keeps the raw body
  .post(
    '/hook',
    async ({ request, status }) => {
      const event = await unwrap(await request.arrayBuffer(), request.headers, process.env.WEBHOOK_SECRET)
      console.log(event.type)
      return status(204)
    },
    { parse: 'none' },
  )
  .listen({ hostname: '127.0.0.1', port: process.env.PORT ?? 3000 })
console.log(`waiting on port ${app.server.port}`)
