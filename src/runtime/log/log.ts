import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>

/** Logs go to standard error by default, since standard output belongs to the command's own answer. */
export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['*.authorization', '*.entitySecretCiphertext', '*.apiKey', '*.entitySecret'],
        censor: '[secret]',
      },
    },
    destination ?? pino.destination({ fd: 2, sync: true }),
  )
}
