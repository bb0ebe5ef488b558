import { Hono } from 'hono'
import { unwrap, WebhookVerificationError } from 'postrider'

const app = new Hono()

app.post('/hook', async (context) => {
  const body = await context.req.arrayBuffer()
  const event = await unwrap(body, context.req.raw.headers, process.env.WEBHOOK_SECRET)
  console.log(event.type)
  return context.body(null, 204)
})

app.onError((error, context) => {
  if (error instanceof WebhookVerificationError) return context.text(error.message, 401)
  throw error
})

// Bun; on Node: serve(app) of @hono/node-server.
const server = Bun.serve({ hostname: '127.0.0.1', port: process.env.PORT ?? 3000, fetch: app.fetch })
console.log(`waiting on port ${server.port}`)
