/**
 * The health check of a container: asks /ready of the program in it, prints what it answers, and exits with 1 unless it is ready. A
 * worker answers at BEZANT_WORKER_PORT, and the API and an attester at BEZANT_PORT.
 */
const { BEZANT_WORKER_PORT, BEZANT_PORT } = process.env
const port = BEZANT_WORKER_PORT || BEZANT_PORT || '4020'

try {
  const response = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(8_000) })
  process.stdout.write(`${await response.text()}\n`)
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  process.stdout.write(`${error.cause?.message ?? error.message}\n`)
  process.exitCode = 1
}
