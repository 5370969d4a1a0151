import type { ErrorName } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'
import { isDatabaseAway } from '#runtime/db/db'

/** Our error kinds for errors that the framework raises before a verb runs. */
const kindsByFrameworkCode: Record<string, ErrorName> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupportedMediaType',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalidRequest',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalidRequest',
  FST_ERR_BAD_URL: 'invalidRequest',
  FST_ERR_PARAM_LENGTH: 'invalidRequest',
}

/** The documented error of anything that was thrown while a request was served. */
export function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  const { code, statusCode } = thrown as { code?: string; statusCode?: number }
  const kind = kindsByFrameworkCode[code ?? '']
  if (kind) return new ApiError(kind)
  if (statusCode && statusCode >= 400 && statusCode < 500) return new ApiError('invalidRequest')
  // The client may retry: if the request was accepted after all, its idempotency key replays it.
  if (isDatabaseAway(thrown)) return new ApiError('unavailable')
  return new ApiError('internal')
}
