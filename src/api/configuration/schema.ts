import Type from 'typebox'

export const pongSchema = Type.Object(
  { message: Type.Enum(['pong'], { description: 'Always pong.' }) },
  { title: 'Pong', description: 'The response to a ping.' },
)

export const configurationSchema = Type.Object(
  {
    payments: Type.Object(
      {
        masterWalletId: Type.String({
          description: 'The main wallet, to which payments are credited.',
          examples: ['1000123456789012'],
        }),
      },
      { description: 'The configuration of payments.' },
    ),
  },
  { title: 'Configuration', description: 'The configuration of the business account.' },
)
